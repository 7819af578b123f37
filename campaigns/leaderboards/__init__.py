"""What leaderboards show: who stands on them, with which scores, and what a team is told of its own."""
