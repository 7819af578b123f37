"""The report: one page with leaderboards, differences and what is behind them."""
