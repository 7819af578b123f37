"""People and teams, how they sign in, and what they did."""
