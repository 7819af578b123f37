"""Which programs can work with the tables of a database: migrations come first, and older programs go on meanwhile.

Revisions are dates, so that they compare as text.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, inspect, select, text

from models.schema.base import now
from models.schema.queue import Compatibility, Worker

BEFORE_WORKERS_TOLD = "20261204"
"""What workers know at most that do not say their revision."""


@dataclass(frozen=True, slots=True)
class SchemaStatus:
    """Where the tables of a database stand."""

    revision: str | None
    """The newest migration that was done; None where there are no tables."""
    oldest: str | None
    """The oldest revision whose programs can work with them; None where only those of the very same can."""

    def serves(self, revision: str) -> bool:
        """Whether a program of this revision can work with them."""
        if self.revision is None or self.revision == revision:
            return self.revision == revision
        return self.revision > revision and self.oldest is not None and self.oldest <= revision

    def trouble(self, revision: str) -> str | None:
        """What keeps a program of this revision from working with them, and what to do; None if nothing does."""
        if self.serves(revision):
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
    """A worker that beats."""

    id: str
    version: str
    revision: str
    """The newest migration that it knows; at most that, where it does not say."""
    edition: int


def read_schema_status(connection: Connection) -> SchemaStatus:
    """Where the tables stand, whatever is there."""
    tables = inspect(connection)
    if not tables.has_table("alembic_version"):
        return SchemaStatus(None, None)
    revision = connection.scalar(text("SELECT version_num FROM alembic_version"))
    oldest = connection.scalar(select(Compatibility.oldest)) if tables.has_table(Compatibility.__tablename__) else None
    return SchemaStatus(None if revision is None else str(revision), oldest)


def read_schema_problem(connection: Connection, revision: str) -> str | None:
    """As `Standing.trouble`, by one small statement: for programs that found everything right when they started.

    Raises what the database says where the tables are gone.
    """
    row = connection.execute(
        text("SELECT version_num, (SELECT oldest FROM compatibility) FROM alembic_version")
    ).first()
    return (SchemaStatus(None, None) if row is None else SchemaStatus(str(row[0]), row[1])).trouble(revision)


def living_workers(connection: Connection, silent_seconds: float) -> list[LivingWorker]:
    """The workers that have beaten lately, by their names."""
    rows = connection.execute(
        select(Worker.id, Worker.version, Worker.revision, Worker.edition)
        .where(Worker.beat_at >= now() - silent_seconds)
        .order_by(Worker.id)
    )
    return [LivingWorker(row.id, row.version, row.revision or BEFORE_WORKERS_TOLD, row.edition) for row in rows]
