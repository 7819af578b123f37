"""A leaderboard from stored results: ranks, significance, power."""
