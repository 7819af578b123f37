"""JSON for programs, under /api/v1: one file for each kind of thing."""

from __future__ import annotations

from web.api import (
    account,
    accounts,
    audit,
    evaluations,
    human,
    invitations,
    me,
    segments,
    submissions,
    teams,
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
    uploads.router,
    submissions.router,
    evaluations.router,
    segments.router,
    human.router,
)
"""In the order of the description."""
