"""Scores: leaderboards, comparisons of systems, segments."""
