"""Commands about accounts, teams, quotas, and signing in."""
