"""Campaigns: rules, phases, test sets, teams, quotas, corrections, judgments, nightly runs, export."""
