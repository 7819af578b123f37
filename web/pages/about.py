"""The page that explains how scores are computed."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from analysis.leaderboard.significance import ALPHA
from campaigns.inspection.method import describe_metrics
from steelyard.metrics.metric import EDITION, edition_name
from steelyard.resampling.randomization import TRIALS
from web.pages.rendering import page

router = APIRouter()

LEVEL = 0.95


@router.get("/about")
def about(request: Request) -> Response:
    """Explain metrics, signatures, intervals, tests, reproducibility and blind phases."""
    return page(
        request,
        "about",
        title="How scores are computed",
        metrics=describe_metrics(),
        edition=edition_name(EDITION),
        trials=TRIALS,
        alpha=ALPHA,
        level=LEVEL,
    )
