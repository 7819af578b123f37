"""Scores: leaderboards, comparisons of systems, segments."""

from __future__ import annotations

from web.api.leaderboards import comparisons, leaderboards, segments

ROUTERS = (leaderboards.router, comparisons.router, segments.router)
