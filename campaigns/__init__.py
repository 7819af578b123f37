"""What organisers and teams do: accounts, campaigns, submissions, leaderboards, without HTTP."""
