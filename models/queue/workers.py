"""Workers and their heartbeats."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, select, update

from models.schema.base import now
from models.schema.queue import Worker


def beat(connection: Connection, worker: str) -> bool:
    """Update the worker's heartbeat; False if its row is gone."""
    return connection.execute(update(Worker).where(Worker.id == worker).values(beat_at=now())).rowcount == 1


def count_processes(connection: Connection, silent_seconds: float) -> int:
    """The number of pool processes of all workers that are not silent."""
    total = connection.scalar(
        select(func.coalesce(func.sum(Worker.concurrency), 0)).where(Worker.beat_at >= now() - silent_seconds)
    )
    return int(total or 0)


@dataclass(frozen=True, slots=True)
class Pool:
    """All workers of an edition that are not silent."""

    processes: int
    message_version: int
    """The newest version of messages that each of them reads."""


def read_pools(connection: Connection, silent_seconds: float) -> dict[int, Pool]:
    """The workers that are not silent, by edition."""
    rows = connection.execute(
        select(
            Worker.edition,
            func.sum(Worker.concurrency).label("processes"),
            func.min(Worker.message_version).label("message_version"),
        )
        .where(Worker.beat_at >= now() - silent_seconds)
        .group_by(Worker.edition)
        .order_by(Worker.edition)
    )
    return {row.edition: Pool(int(row.processes), int(row.message_version)) for row in rows}


def stop_claiming(connection: Connection, worker: str) -> None:
    """Mark a worker as taking no more work, though its heartbeat continues until it ends."""
    connection.execute(update(Worker).where(Worker.id == worker).values(concurrency=0))


def delete_worker(connection: Connection, worker: str) -> None:
    """Delete the row of a stopped worker."""
    connection.execute(delete(Worker).where(Worker.id == worker))


def delete_silent_workers(connection: Connection, silent_seconds: float) -> None:
    """Delete the rows of workers that have long been silent."""
    connection.execute(delete(Worker).where(Worker.beat_at < now() - silent_seconds))
