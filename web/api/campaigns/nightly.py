"""Schedules and their nightly runs."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request

from campaigns.inspection.scheduled_runs import (
    history_document,
    schedule_document,
    visible_history,
    visible_report,
    visible_schedules,
)
from models.database.session import reading
from steelyard_client.documents.paging import Page
from steelyard_client.documents.submissions.nightly import NightlyRunResponse, ScheduleHistoryResponse, ScheduleResponse
from web.api.paging import After, Limit, slice_page
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["nightly"])


@router.get("/nightly")
def list_schedules(
    request: Request,
    principal: CurrentPrincipal,
    removed: Annotated[bool, Query(description="Also deleted schedules with a history. For administrators.")] = False,
    limit: Limit = 50,
    after: After = "",
) -> Page[ScheduleResponse]:
    """List the schedules: all for administrators, those of visible campaigns for organisers."""
    with reading(app_state(request).engine) as connection:
        found, following = slice_page(visible_schedules(connection, principal, removed=removed), limit, after)
    return Page(items=[schedule_document(each, principal) for each in found], next=following)


@router.get("/nightly/{name}")
def read_schedule_history(request: Request, name: str, principal: CurrentPrincipal) -> ScheduleHistoryResponse:
    """Read all runs of a schedule, and the series of its scores with lasting changes."""
    with reading(app_state(request).engine) as connection:
        return history_document(visible_history(connection, principal, name), principal)


@router.get("/nightly/{name}/runs/{run}")
def read_nightly_run(request: Request, name: str, run: int, principal: CurrentPrincipal) -> NightlyRunResponse:
    """Read the result of one run, in the format of `steelyard schedule run -f json` (docs/reference/regressions.md)."""
    with reading(app_state(request).engine) as connection:
        found = visible_report(connection, principal, name, run).document
    return found if principal.administrates else found.model_copy(update={"reason": None})
