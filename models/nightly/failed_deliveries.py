"""Messages about nights that did not reach the webhooks of their schedules."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from models.schema.nightly import Delivery, Night
from models.schema.states import LeaseState


@dataclass(frozen=True, slots=True)
class FailedDelivery:
    """The last message of a schedule that was tried, and has not arrived."""

    date: str
    """Of the night that it is about."""
    attempts: int
    given_up: bool
    """Whether it will not be tried again."""
    reason: str


def read_failed_deliveries(connection: Connection) -> dict[int, FailedDelivery]:
    """By schedule, where the last message that was tried has not arrived."""
    last = (
        select(func.max(Delivery.id))
        .join(Night, Night.id == Delivery.night_id)
        .where(Delivery.attempts > 0)
        .group_by(Night.schedule_id)
    )
    rows = connection.execute(
        select(Night.schedule_id, Night.date, Delivery.attempts, Delivery.state, Delivery.error)
        .join(Night, Night.id == Delivery.night_id)
        .where(Delivery.id.in_(last), Delivery.state != LeaseState.DONE, Delivery.error.is_not(None))
    )
    return {
        row.schedule_id: FailedDelivery(row.date, row.attempts, row.state == LeaseState.FAILED, row.error)
        for row in rows
    }
