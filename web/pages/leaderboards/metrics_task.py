"""The metrics of a campaign over all of its test sets."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from campaigns.inspection.metrics_task import read_metrics_task
from campaigns.leaderboards.choice import read_choices
from campaigns.permissions import read_access
from models.database.session import reading
from steelyard.tables.metrics_task import TITLES, notes
from web.dependencies import CurrentPrincipal, app_state
from web.pages.rendering import page

router = APIRouter()

PATIENCE_SECONDS = 1.5
"""How long the page waits for the tests."""


@router.get("/campaigns/{name}/metrics-task")
def show_metrics_task(
    request: Request, name: str, principal: CurrentPrincipal, human: Annotated[str, Query(max_length=300)] = ""
) -> Response:
    """Show how well each metric agrees with people, on every test set and on average."""
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        hidden = not access.sees_board or not read_choices(connection, access)
    if hidden:
        return page(
            request, "leaderboards/leaderboard_hidden", title="Metrics task", access=access, here="metrics-task"
        )
    document = read_metrics_task(state.engine, state.settings, state.metrics_tasks, access, human, PATIENCE_SECONDS)
    return page(
        request,
        "leaderboards/metrics_task",
        title="Metrics task",
        access=access,
        here="metrics-task",
        document=document,
        notes=notes(document),
        titles=TITLES,
        human=human,
    )
