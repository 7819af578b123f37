"""What is done when the database's clock was set: times that were written before mean nothing after."""

from __future__ import annotations

from sqlalchemy import Connection, update

from models.schema.base import now
from models.schema.queue import Leased, Worker
from models.schema.states import NOT_YET, LeaseState


def read_clock(connection: Connection) -> float:
    """What the database's clock says, in seconds since 1970."""
    return float(connection.scalar(now().select()) or 0.0)


def restart_leases(
    connection: Connection, table: type[Leased], *, lease_seconds: float, beyond: float | None = None
) -> int:
    """Let every lease, hint and delay of a table begin now; how many rows.

    With `beyond` only those that begin more than so many seconds in the future.
    """
    future = now() + (beyond or 0.0)
    touched = 0
    for state, began, values in (
        (LeaseState.RUNNING, table.claimed_at, {"claimed_at": now(), "lease_until": now() + lease_seconds}),
        (LeaseState.ENQUEUED, table.enqueued_at, {"enqueued_at": now()}),
        # A delay lies in the future by right, and to wait less does no harm.
        (LeaseState.PENDING, table.not_before, {"not_before": now()}),
    ):
        statement = update(table).where(table.state == state).values(**values)
        if beyond is not None or state == LeaseState.PENDING:
            # What waits for references has no time at all.
            statement = statement.where(began > future, began < NOT_YET)
        touched += connection.execute(statement).rowcount
    return touched


def restart_heartbeats(connection: Connection, *, beyond: float | None = None) -> int:
    """Let every worker have beaten just now: the living beat again, the dead are silent from now on."""
    statement = update(Worker).values(beat_at=now())
    if beyond is not None:
        statement = statement.where(Worker.beat_at > now() + beyond)
    return connection.execute(statement).rowcount
