"""The life cycle of a webhook delivery. The scheduler sends deliveries itself (`scheduler.webhooks.delivery`).

A delivery that has failed for good keeps the reason, which `models.nightly.failed_deliveries` reads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, exists, select

from models.queue.task_kind import Claim, LeasePolicy, TaskKind
from models.schema.base import now
from models.schema.declarative import aliased
from models.schema.nightly import Delivery, NightlyRun, Schedule
from models.schema.states import LeaseState
from runtime.settings import Settings

LONGEST_DELAY = 6 * 3600.0
"""Maximum delay between two attempts, in seconds."""

SPARE_SECONDS = 30.0
"""How much longer a lease lasts than a request may take, in seconds."""


@dataclass(frozen=True, slots=True)
class ClaimedDelivery(Claim):
    """A delivery under our lease."""

    nightly_run_id: int
    created_at: float | None
    moment: float
    """The time of this attempt, by the database's clock."""
    webhook: str | None
    """None if the schedule's webhook has been removed."""
    secret: str | None = field(repr=False)
    private: bool
    """Whether a private address is allowed."""


def _load(connection: Connection, claim: Claim) -> ClaimedDelivery:
    row = connection.execute(
        select(
            *(Delivery.nightly_run_id, Delivery.created_at, now().label("moment")),
            *(Schedule.webhook, Schedule.webhook_secret, Schedule.webhook_private),
        )
        .join(NightlyRun, NightlyRun.id == Delivery.nightly_run_id)
        .join(Schedule, Schedule.id == NightlyRun.schedule_id)
        .where(Delivery.id == claim.key)
    ).one()
    return ClaimedDelivery(
        *claim.identity,
        nightly_run_id=row.nightly_run_id,
        created_at=row.created_at,
        moment=row.moment,
        webhook=row.webhook,
        secret=row.webhook_secret,
        private=row.webhook_private,
    )


def _removable() -> ColumnElement[bool]:
    # A schedule's last delivery is shown as failed for as long as that holds.
    later, later_run, own_run = aliased(Delivery), aliased(NightlyRun), aliased(NightlyRun)
    return (Delivery.state != LeaseState.FAILED) | exists().where(
        own_run.id == Delivery.nightly_run_id,
        later_run.schedule_id == own_run.schedule_id,
        later.nightly_run_id == later_run.id,
        later.id > Delivery.id,
    )


def _log_fields(connection: Connection, key: int) -> dict[str, Any]:
    return {"nightly_run": connection.scalar(select(Delivery.nightly_run_id).where(Delivery.id == key))}


def _policy(settings: Settings) -> LeasePolicy:
    """Receivers may be unavailable for hours: delays grow exponentially."""
    return LeasePolicy(
        settings.webhook_seconds + SPARE_SECONDS,
        settings.webhook_attempts,
        # Beyond this many doublings every delay is the maximum, and a float would overflow.
        lambda attempts: min(settings.webhook_retry_seconds * 2.0 ** min(attempts - 1, 60), LONGEST_DELAY),
        setting="STEELYARD_WEBHOOK_ATTEMPTS",
    )


DELIVERY: TaskKind[ClaimedDelivery, None] = TaskKind(
    name="deliveries",
    table=Delivery,
    message=None,
    run=None,
    load=_load,
    removable=_removable,
    log_fields=_log_fields,
    policy=_policy,
)
