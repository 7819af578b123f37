"""What leaderboards show: systems, scores and ranks, and what feedback a team gets on its own."""
