"""Schedules and their nightly runs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from campaigns.inspection.scheduled_runs import visible_history, visible_report, visible_schedules
from models.database.session import reading
from web.api.document import Document, Timestamp
from web.api.paging import After, Limit, Page, slice_page
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["nightly"])


class ScheduleResponse(Document):
    """A schedule of recurring evaluations."""

    name: str
    """Name of the schedule."""
    cron: str
    """When it runs, as a cron expression."""
    time_zone: str
    """Time zone of the cron expression."""
    next_at: Timestamp | None
    """When its next run is due; null for never."""
    overdue: bool
    """Whether its next run is due and no scheduler has started it."""
    metrics: list[str]
    """Specifications of the metrics."""
    runs: int
    """Number of its runs."""
    last_date: str | None
    """Date of the last run; null before the first one."""
    last_state: str | None
    """State of the last run; null before the first one."""
    last_regressed: bool | None
    """Whether the last run found a regression; null where unknown."""


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
            next_at=each.schedule.next_at,
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
    """Read all runs of a schedule and their score series, in the format of `steelyard nightly history -f json`."""
    with reading(app_state(request).engine) as connection:
        found = visible_history(connection, principal, name).as_json()
    if not principal.administrates:
        # Reasons may name folders and commands of the server.
        for nightly_run in found["runs"]:
            nightly_run["reason"] = None
    return found


@router.get("/nightly/{name}/runs/{run}")
def read_nightly_run(request: Request, name: str, run: int, principal: CurrentPrincipal) -> dict[str, Any]:
    """Read the result of one run, in the format of `steelyard nightly run -f json` (docs/reference/regressions.md)."""
    with reading(app_state(request).engine) as connection:
        report = visible_report(connection, principal, name, run)
    found = report.as_json()
    if not principal.administrates:
        found["reason"] = None
    return found
