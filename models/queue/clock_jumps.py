"""Repairs after a jump of the database's clock, which invalidates stored times."""

from __future__ import annotations

from sqlalchemy import Connection, update

from models.schema.base import now
from models.schema.queue import Leased, Worker
from models.schema.states import NOT_YET, LeaseState


def restart_leases(
    connection: Connection, table: type[Leased], *, lease_seconds: float, beyond: float | None = None
) -> int:
    """Restart every lease, message time and delay of a table from now; the number of rows.

    With `beyond`, only those that start more than this many seconds in the future.
    """
    future = now() + (beyond or 0.0)
    touched = 0
    for state, began, values in (
        (LeaseState.RUNNING, table.claimed_at, {"claimed_at": now(), "lease_until": now() + lease_seconds}),
        (LeaseState.ENQUEUED, table.enqueued_at, {"enqueued_at": now()}),
        # A delay legitimately lies in the future; ending it early does no harm.
        (LeaseState.PENDING, table.not_before, {"not_before": now()}),
    ):
        statement = update(table).where(table.state == state).values(**values)
        if beyond is not None or state == LeaseState.PENDING:
            # Rows that wait for corpus statistics have no time.
            statement = statement.where(began > future, began < NOT_YET)
        touched += connection.execute(statement).rowcount
    return touched


def restart_heartbeats(connection: Connection, *, beyond: float | None = None) -> int:
    """Set every worker's heartbeat to now: running workers continue, dead ones are silent from now on."""
    statement = update(Worker).values(beat_at=now())
    if beyond is not None:
        statement = statement.where(Worker.beat_at > now() + beyond)
    return connection.execute(statement).rowcount
