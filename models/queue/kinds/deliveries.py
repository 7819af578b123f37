"""The life of a message for a webhook. The scheduler sends them itself (`scheduler.webhooks.delivery`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, exists, select
from sqlalchemy.orm import aliased

from models.queue.task_kind import Claim, Failure, LeasePolicy, TaskKind
from models.schema.base import now
from models.schema.nightly import Delivery, Night, Schedule
from models.schema.states import LeaseState
from runtime.settings import Settings

LONGEST_DELAY = 6 * 3600.0
"""Seconds between two attempts at most."""

SPARE_SECONDS = 30.0
"""How much longer a claim holds than a request may take."""


@dataclass(frozen=True, slots=True)
class ClaimedDelivery(Claim):
    """A message that is ours to send."""

    night_id: int
    created_at: float | None
    moment: float
    """The time of this attempt, by the database's clock."""
    webhook: str | None
    """None where the schedule has none any more."""
    secret: str | None = field(repr=False)
    private: bool
    """Whether it may go to a private address."""


def _load(connection: Connection, claim: Claim) -> ClaimedDelivery:
    row = connection.execute(
        select(
            *(Delivery.night_id, Delivery.created_at, now().label("moment")),
            *(Schedule.webhook, Schedule.webhook_secret, Schedule.webhook_private),
        )
        .join(Night, Night.id == Delivery.night_id)
        .join(Schedule, Schedule.id == Night.schedule_id)
        .where(Delivery.id == claim.key)
    ).one()
    return ClaimedDelivery(
        *claim.identity,
        night_id=row.night_id,
        created_at=row.created_at,
        moment=row.moment,
        webhook=row.webhook,
        secret=row.webhook_secret,
        private=row.webhook_private,
    )


def _complete(_connection: Connection, _claim: ClaimedDelivery, _result: None) -> None:
    """Nothing waits for it."""


def _exhausted(_connection: Connection, _row: Row[Any], _failure: Failure) -> None:
    """Nothing waits for it: the row keeps the reason, which `models.nightly.failed_deliveries` reads."""


def _removable() -> ColumnElement[bool]:
    # That the last message of a schedule has not arrived is told for as long as it is true.
    later, its_night, own_night = aliased(Delivery), aliased(Night), aliased(Night)
    return (Delivery.state != LeaseState.FAILED) | exists().where(
        own_night.id == Delivery.night_id,
        its_night.schedule_id == own_night.schedule_id,
        later.night_id == its_night.id,
        later.id > Delivery.id,
    )


def _log_fields(connection: Connection, key: int) -> dict[str, Any]:
    return {"night": connection.scalar(select(Delivery.night_id).where(Delivery.id == key))}


def _policy(settings: Settings) -> LeasePolicy:
    """Receivers may be away for hours: each delay is twice the last one."""
    return LeasePolicy(
        settings.webhook_seconds + SPARE_SECONDS,
        settings.webhook_attempts,
        # Beyond so many doublings any delay is the longest, and a float too small.
        lambda attempts: min(settings.webhook_retry_seconds * 2.0 ** min(attempts - 1, 60), LONGEST_DELAY),
        setting="STEELYARD_WEBHOOK_ATTEMPTS",
    )


DELIVERY: TaskKind[ClaimedDelivery, None] = TaskKind(
    name="deliveries",
    table=Delivery,
    message=None,
    run=None,
    load=_load,
    complete=_complete,
    exhausted=_exhausted,
    removable=_removable,
    log_fields=_log_fields,
    policy=_policy,
)
