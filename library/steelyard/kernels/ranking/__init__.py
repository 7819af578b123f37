"""Rank statistics: Kendall's tau-b, sums of ranks, pairs of systems."""
