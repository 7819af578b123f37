"""Accounts, tokens, teams, invitations, the audit log."""
