"""Checks of an output before anything is queued: pure functions, and one reader of the context that they need."""
