"""Workers and their heartbeats."""

from __future__ import annotations

from sqlalchemy import Connection, Integer, String, delete, func, select, update
from sqlalchemy.orm import Mapped, mapped_column

from models.base import Base, Seconds, now


class Worker(Base):
    """A worker's main process: it beats here while it lives."""

    __tablename__ = "worker"

    id: Mapped[str] = mapped_column(String(200), primary_key=True)
    host: Mapped[str] = mapped_column(String(255))
    pid: Mapped[int] = mapped_column(Integer)
    beat_at: Mapped[Seconds] = mapped_column(default=now())
    version: Mapped[str] = mapped_column(String(50))
    concurrency: Mapped[int] = mapped_column(Integer)
    """Processes in its pool."""
    edition: Mapped[int] = mapped_column(Integer, server_default="1", default=1)
    """The edition of the numbers that it makes (`metrics.base.EDITION`)."""
    started_at: Mapped[Seconds | None] = mapped_column(default=now())
    revision: Mapped[str | None] = mapped_column(String(32))
    """The newest migration that it knows (`models.compatibility.REVISION`); older releases do not say."""


def beat(connection: Connection, worker: str) -> bool:
    """Say that the worker lives; False when its row is gone."""
    return connection.execute(update(Worker).where(Worker.id == worker).values(beat_at=now())).rowcount == 1


def processes(connection: Connection, silent_seconds: float) -> int:
    """Pool processes of all workers that are not silent."""
    total = connection.scalar(
        select(func.coalesce(func.sum(Worker.concurrency), 0)).where(Worker.beat_at >= now() - silent_seconds)
    )
    return int(total or 0)


def editions(connection: Connection, silent_seconds: float) -> dict[int, int]:
    """The editions that workers make which are not silent, and how many pool processes each has."""
    rows = connection.execute(
        select(Worker.edition, func.sum(Worker.concurrency).label("processes"))
        .where(Worker.beat_at >= now() - silent_seconds)
        .group_by(Worker.edition)
        .order_by(Worker.edition)
    )
    return {row.edition: int(row.processes) for row in rows}


def retire(connection: Connection, worker: str) -> None:
    """Say that a worker takes no more work, though it beats until it has ended."""
    connection.execute(update(Worker).where(Worker.id == worker).values(concurrency=0))


def forget(connection: Connection, worker: str) -> None:
    """Remove a worker that has stopped."""
    connection.execute(delete(Worker).where(Worker.id == worker))


def forget_silent(connection: Connection, silent_seconds: float) -> None:
    """Remove the rows of workers that have long been silent."""
    connection.execute(delete(Worker).where(Worker.beat_at < now() - silent_seconds))
