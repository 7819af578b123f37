"""JSON for programs, under /api/v1: one file for each kind of thing."""

from __future__ import annotations

from web.api import (
    account,
    accounts,
    audit,
    boards,
    campaign_quotas,
    campaign_teams,
    campaigns,
    comparisons,
    corrections,
    evaluations,
    export,
    human,
    invitations,
    me,
    nights,
    phases,
    segments,
    submissions,
    teams,
    test_sets,
    tokens,
    uploads,
)

ROUTERS = (
    me.router,
    account.router,
    tokens.router,
    teams.router,
    invitations.router,
    accounts.router,
    audit.router,
    campaigns.router,
    phases.router,
    test_sets.router,
    campaign_teams.router,
    campaign_quotas.router,
    corrections.router,
    export.router,
    uploads.router,
    submissions.router,
    evaluations.router,
    boards.router,
    comparisons.router,
    segments.router,
    human.router,
    nights.router,
)
"""In the order of the description."""
