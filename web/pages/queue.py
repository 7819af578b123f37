"""The queue: waiting tasks, workers and failures."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from campaigns.inspection.queue import read_queue
from models.database.session import reading
from web.dependencies import CurrentPrincipal, app_state
from web.pages.rendering import page

router = APIRouter()

KIND_TITLES = {
    "corpus_statistics": "corpus statistics",
    "learned_shards": "shards of learned metrics",
    "trials": "randomization tests",
    "metrics_task_parts": "parts of metrics tasks",
    "nightly_run_steps": "nightly steps",
    "deliveries": "webhook deliveries",
}
"""Titles of kinds of tasks whose names are not plain words."""


@router.get("/queue")
def show_queue(request: Request, principal: CurrentPrincipal) -> Response:
    """Show the queue now; a script refreshes it."""
    state = app_state(request)
    with reading(state.engine) as connection:
        queue = read_queue(connection, principal, state.settings)
    return page(request, "queue", title="Queue", queue=queue, kind_titles=KIND_TITLES)
