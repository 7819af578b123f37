"""Scores: leaderboards, comparisons, segments, metrics and human judgments."""

from __future__ import annotations

from web.pages.leaderboards import comparison, leaderboard, metrics, segments

ROUTERS = (leaderboard.router, comparison.router, segments.router, metrics.router)
