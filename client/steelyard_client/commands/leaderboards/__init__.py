"""`steelyard leaderboard`: ranked systems."""
