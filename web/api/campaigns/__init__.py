"""Campaigns: rules, phases, test sets, teams, quotas, corrections, judgments, nightly runs, export."""

from __future__ import annotations

from web.api.campaigns import campaigns, corrections, export, judgments, nightly, phases, quotas, teams, test_sets

ROUTERS = (
    campaigns.router,
    phases.router,
    test_sets.router,
    teams.router,
    quotas.router,
    corrections.router,
    export.router,
    judgments.router,
    nightly.router,
)
