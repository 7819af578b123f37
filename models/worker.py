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


def beat(connection: Connection, worker: str) -> bool:
    """Say that the worker lives; False when its row is gone."""
    return connection.execute(update(Worker).where(Worker.id == worker).values(beat_at=now())).rowcount == 1


def processes(connection: Connection, silent_seconds: float) -> int:
    """Pool processes of all workers that are not silent."""
    total = connection.scalar(
        select(func.coalesce(func.sum(Worker.concurrency), 0)).where(Worker.beat_at >= now() - silent_seconds)
    )
    return int(total or 0)


def forget(connection: Connection, worker: str) -> None:
    """Remove a worker that has stopped."""
    connection.execute(delete(Worker).where(Worker.id == worker))


def forget_silent(connection: Connection, silent_seconds: float) -> None:
    """Remove the rows of workers that have long been silent."""
    connection.execute(delete(Worker).where(Worker.beat_at < now() - silent_seconds))
