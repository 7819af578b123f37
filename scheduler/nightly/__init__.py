"""Schedules and their nightly runs: due times, sources of outputs, and the steps to a verdict."""
