"""Leaderboards as they are shown: systems, scores and ranks, and the feedback on a team's own scores."""
