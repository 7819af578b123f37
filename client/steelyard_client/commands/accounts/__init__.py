"""Accounts, tokens, teams."""
