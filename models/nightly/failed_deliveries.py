"""Webhook deliveries of schedules that failed."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from models.schema.nightly import Delivery, NightlyRun
from models.schema.states import LeaseState


@dataclass(frozen=True, slots=True)
class FailedDelivery:
    """The last attempted delivery of a schedule, which has not succeeded."""

    date: str
    """Of the nightly run that it reports."""
    attempts: int
    given_up: bool
    """Whether no further attempt will be made."""
    reason: str


def read_failed_deliveries(connection: Connection) -> dict[int, FailedDelivery]:
    """By schedule: the last attempted delivery, if it has not succeeded."""
    last = (
        select(func.max(Delivery.id))
        .join(NightlyRun, NightlyRun.id == Delivery.nightly_run_id)
        .where(Delivery.attempts > 0)
        .group_by(NightlyRun.schedule_id)
    )
    rows = connection.execute(
        select(NightlyRun.schedule_id, NightlyRun.date, Delivery.attempts, Delivery.state, Delivery.error)
        .join(NightlyRun, NightlyRun.id == Delivery.nightly_run_id)
        .where(Delivery.id.in_(last), Delivery.state != LeaseState.DONE, Delivery.error.is_not(None))
    )
    return {
        row.schedule_id: FailedDelivery(row.date, row.attempts, row.state == LeaseState.FAILED, row.error)
        for row in rows
    }
