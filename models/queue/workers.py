"""Workers and their heartbeats."""

from __future__ import annotations

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


def read_editions(connection: Connection, silent_seconds: float) -> dict[int, int]:
    """The editions of workers that are not silent, with their numbers of pool processes."""
    rows = connection.execute(
        select(Worker.edition, func.sum(Worker.concurrency).label("processes"))
        .where(Worker.beat_at >= now() - silent_seconds)
        .group_by(Worker.edition)
        .order_by(Worker.edition)
    )
    return {row.edition: int(row.processes) for row in rows}


def stop_claiming(connection: Connection, worker: str) -> None:
    """Mark a worker as taking no more work, though its heartbeat continues until it ends."""
    connection.execute(update(Worker).where(Worker.id == worker).values(concurrency=0))


def delete_worker(connection: Connection, worker: str) -> None:
    """Delete the row of a stopped worker."""
    connection.execute(delete(Worker).where(Worker.id == worker))


def delete_silent_workers(connection: Connection, silent_seconds: float) -> None:
    """Delete the rows of workers that have long been silent."""
    connection.execute(delete(Worker).where(Worker.beat_at < now() - silent_seconds))
