"""Accounts and authentication: passwords, sessions, tokens, teams."""
