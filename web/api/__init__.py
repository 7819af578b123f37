"""JSON for programs, under /api/v1: one file for each kind of thing."""

from __future__ import annotations

from web.api import (
    evaluations,
    human,
    me,
    segments,
    submissions,
    uploads,
)

ROUTERS = (
    me.router,
    uploads.router,
    submissions.router,
    evaluations.router,
    segments.router,
    human.router,
)
"""In the order of the description."""
