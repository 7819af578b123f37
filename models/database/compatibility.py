"""Which programs are compatible with the tables of a database: migrations run first, and older programs keep running.

Revisions are dates, so they compare as text.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, inspect, select, text

from models.schema.base import now
from models.schema.queue import Compatibility, Worker

SCHEMA_CHECK_SECONDS = 5.0
"""Seconds between two checks of running programs whether the tables are still compatible."""
BEFORE_WORKERS_TOLD = "20261204"
"""The assumed revision of workers that do not report theirs."""


@dataclass(frozen=True, slots=True)
class SchemaStatus:
    """The schema version of a database."""

    revision: str | None
    """The newest migration applied; None without tables."""
    oldest: str | None
    """The oldest revision whose programs are compatible; None if only the same revision is."""

    def supports(self, revision: str) -> bool:
        """Whether a program of this revision is compatible with the tables."""
        if self.revision is None or self.revision == revision:
            return self.revision == revision
        return self.revision > revision and self.oldest is not None and self.oldest <= revision

    def problem(self, revision: str) -> str | None:
        """Why a program of this revision is incompatible with the tables, and what to do; None if it is compatible."""
        if self.supports(revision):
            return None
        if self.revision is None:
            return "The database has no tables. Run `steelyard db upgrade`."
        if self.revision < revision:
            return (
                f"The database has the tables of revision {self.revision}, and this release needs {revision}. "
                "Run `steelyard db upgrade`."
            )
        needed = self.oldest or self.revision
        return (
            f"The database has the tables of a newer release (revision {self.revision}), which need a program of "
            f"revision {needed} or later; this one is of {revision}. Install the newer release."
        )


@dataclass(frozen=True, slots=True)
class LivingWorker:
    """A worker with a current heartbeat."""

    id: str
    version: str
    revision: str
    """The newest migration that it knows, or an upper bound where it does not report one."""
    edition: int


def read_schema_status(connection: Connection) -> SchemaStatus:
    """The schema version, in any state of the database."""
    tables = inspect(connection)
    if not tables.has_table("alembic_version"):
        return SchemaStatus(None, None)
    revision = connection.scalar(text("SELECT version_num FROM alembic_version"))
    oldest = connection.scalar(select(Compatibility.oldest)) if tables.has_table(Compatibility.__tablename__) else None
    return SchemaStatus(None if revision is None else str(revision), oldest)


def read_schema_problem(connection: Connection, revision: str) -> str | None:
    """As `SchemaStatus.problem`, in one small statement: for programs that were compatible when they started.

    Raises the database's own error if the tables are gone.
    """
    row = connection.execute(
        text("SELECT version_num, (SELECT oldest FROM compatibility) FROM alembic_version")
    ).first()
    return (SchemaStatus(None, None) if row is None else SchemaStatus(str(row[0]), row[1])).problem(revision)


def living_workers(connection: Connection, silent_seconds: float) -> list[LivingWorker]:
    """The workers with a recent heartbeat, sorted by name."""
    rows = connection.execute(
        select(Worker.id, Worker.version, Worker.revision, Worker.edition)
        .where(Worker.beat_at >= now() - silent_seconds)
        .order_by(Worker.id)
    )
    return [LivingWorker(row.id, row.version, row.revision or BEFORE_WORKERS_TOLD, row.edition) for row in rows]
