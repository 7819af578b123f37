"""Reads test sets, protocols, phases and judgments as others need them."""
