"""How each number is made."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from analysis.leaderboard.significance import ALPHA
from campaigns.inspection.method import describe_metrics
from metrics.base import EDITION, edition_name
from metrics.resampling.randomization import TRIALS
from web.pages.rendering import page

router = APIRouter()

LEVEL = 0.95


@router.get("/about")
def about(request: Request) -> Response:
    """Metrics, signatures, intervals, tests, exactness, blind phases."""
    return page(
        request,
        "about",
        title="How each number is made",
        metrics=describe_metrics(),
        edition=edition_name(EDITION),
        trials=TRIALS,
        alpha=ALPHA,
        level=LEVEL,
    )
