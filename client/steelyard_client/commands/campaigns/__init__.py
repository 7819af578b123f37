"""Campaigns, their phases, test sets and submissions."""
