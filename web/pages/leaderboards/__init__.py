"""Scores: leaderboards, comparisons, segments, metrics and human judgments."""

from __future__ import annotations

from web.pages.leaderboards import (
    breakdown,
    comparison,
    embedded,
    human_ranking,
    leaderboard,
    matrix,
    metrics,
    metrics_task,
    ngrams,
    segments,
)

ROUTERS = (
    *(leaderboard.router, matrix.router, comparison.router, segments.router, metrics.router),
    ngrams.router,
    metrics_task.router,
    *(human_ranking.router, breakdown.router, embedded.router),
)
