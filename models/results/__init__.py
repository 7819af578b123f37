"""Queries for results: scores, statistics, leaderboards, tests."""
