"""Columns of leaderboards that no texts are read for: scores made elsewhere, and AutoRank."""
