"""Scores that were made elsewhere: imported, listed, chosen and deleted as columns of leaderboards."""
