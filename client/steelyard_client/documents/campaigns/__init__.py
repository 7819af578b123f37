"""Campaigns, their phases, test sets and quotas, and who takes part."""
