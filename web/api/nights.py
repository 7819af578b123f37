"""Schedules and their nights."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel

from campaigns.inspection.scheduled_runs import seen_history, seen_report, seen_schedules
from models.database.session import reading
from web.dependencies import Asking, state_of

router = APIRouter(tags=["nightly"])


class Schedule(BaseModel):
    """What is measured again and again."""

    name: str
    cron: str
    time_zone: str
    next_at: float | None
    """Seconds since 1970."""
    overdue: bool
    """Whether its next night should have begun, and nobody sees to it."""
    metrics: list[str]
    nights: int
    last_date: str | None
    last_state: str | None
    last_regressed: bool | None


class Schedules(BaseModel):
    """All schedules that one may see."""

    items: list[Schedule]
    next: str | None


@router.get("/nightly")
def list_nightly_schedules(request: Request, principal: Asking) -> Schedules:
    """The schedules, for administrators, and for organisers those whose campaigns they see."""
    with reading(state_of(request).engine) as connection:
        found = seen_schedules(connection, principal)
    items = [
        Schedule(
            name=each.schedule.name,
            cron=each.schedule.cron,
            time_zone=each.schedule.time_zone,
            next_at=each.schedule.next_at,
            overdue=each.overdue,
            metrics=list(each.schedule.metrics),
            nights=each.nights,
            last_date=each.last.date if each.last else None,
            last_state=each.last.state if each.last else None,
            last_regressed=each.last.regressed if each.last else None,
        )
        for each in found
    ]
    return Schedules(items=items, next=None)


@router.get("/nightly/{name}")
def read_nightly_history(request: Request, name: str, principal: Asking) -> dict[str, Any]:
    """All nights of a schedule and the series of their scores, as `steelyard nightly history -f json` gives them."""
    with reading(state_of(request).engine) as connection:
        found = seen_history(connection, principal, name).as_json()
    if not principal.administrates:
        # Reasons may tell of folders and commands of the server.
        for night in found["nights"]:
            night["reason"] = None
    return found


@router.get("/nightly/{name}/nights/{night}")
def read_nightly_report(request: Request, name: str, night: int, principal: Asking) -> dict[str, Any]:
    """What came of one night, as `steelyard nightly run -f json` gives it (docs/regressions.md)."""
    with reading(state_of(request).engine) as connection:
        report = seen_report(connection, principal, name, night)
    found = report.as_json()
    if not principal.administrates:
        found["reason"] = None
    return found
