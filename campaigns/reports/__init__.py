"""The report: one page with leaderboards, differences and their causes."""
