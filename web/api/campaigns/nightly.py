"""Schedules and their nightly runs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from campaigns.inspection.scheduled_runs import visible_history, visible_report, visible_schedules
from models.database.session import reading
from steelyard_client.documents.document import utc
from steelyard_client.documents.paging import Page
from steelyard_client.documents.submissions.nightly import ScheduleResponse
from web.api.paging import After, Limit, slice_page
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["nightly"])


@router.get("/nightly")
def list_schedules(
    request: Request, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[ScheduleResponse]:
    """List the schedules: all for administrators, those of visible campaigns for organisers."""
    with reading(app_state(request).engine) as connection:
        found, following = slice_page(visible_schedules(connection, principal), limit, after)
    items = [
        ScheduleResponse(
            name=each.schedule.name,
            cron=each.schedule.cron,
            time_zone=each.schedule.time_zone,
            next_at=utc(each.schedule.next_at),
            overdue=each.overdue,
            metrics=list(each.schedule.metrics),
            runs=each.nightly_runs,
            last_date=each.last.date if each.last else None,
            last_state=each.last.state if each.last else None,
            last_regressed=each.last.regressed if each.last else None,
        )
        for each in found
    ]
    return Page(items=items, next=following)


@router.get("/nightly/{name}")
def read_schedule_history(request: Request, name: str, principal: CurrentPrincipal) -> dict[str, Any]:
    """Read all runs of a schedule and their score series, in the format of `steelyard schedule show -f json`."""
    with reading(app_state(request).engine) as connection:
        found = visible_history(connection, principal, name).as_json()
    if not principal.administrates:
        # Reasons may name folders and commands of the server.
        for nightly_run in found["runs"]:
            nightly_run["reason"] = None
    return found


@router.get("/nightly/{name}/runs/{run}")
def read_nightly_run(request: Request, name: str, run: int, principal: CurrentPrincipal) -> dict[str, Any]:
    """Read the result of one run, in the format of `steelyard schedule run -f json` (docs/reference/regressions.md)."""
    with reading(app_state(request).engine) as connection:
        report = visible_report(connection, principal, name, run)
    found = report.as_json()
    if not principal.administrates:
        found["reason"] = None
    return found
