"""Deletes campaigns, teams, accounts and submissions: what is taken away is counted first, and the audit log stays."""
