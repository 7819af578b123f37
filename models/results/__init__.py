"""Reads what reductions left behind: scores, statistics, leaderboards, tests."""
