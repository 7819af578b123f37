"""Counts of bootstrap draws, and exact sums over what is drawn."""
