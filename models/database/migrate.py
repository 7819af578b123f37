"""Upgrades a database to the schema of this release."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, event, inspect, text
from sqlalchemy.exc import DBAPIError, OperationalError

from models.database.compatibility import SchemaStatus, living_workers, read_schema_status
from models.database.error_kinds import classify_error, explain
from models.database.session import make_engine, reading, writing
from models.errors import OlderWorkers, Unreachable

if TYPE_CHECKING:
    from alembic.config import Config

LOCK_SECONDS = 0.5
"""Seconds to wait for the table locks per attempt."""

TRIES = 60

CANCELED, DEADLOCK = "57014", "40P01"
"""PostgreSQL's errors for a statement timeout and for a deadlock."""

_LOCK = 0x5354_4545_4C59_4152


def migrations_folder() -> Path:
    """The folder of the migrations: next to this file once installed, otherwise in the repository."""
    rooms = Path(__file__).parents[2]
    installed = rooms / "models" / "migrations"
    return installed if (installed / "env.py").is_file() else rooms / "alembic"


REVISION = max(file.name[:8] for file in (migrations_folder() / "versions").glob("*.py"))
"""The newest migration, by file name: an up-to-date database does not need Alembic."""


def schema_status(url: str) -> SchemaStatus:
    """The schema version of a database."""
    with _engine(url) as engine, reading(engine) as connection:
        return read_schema_status(connection)


def current_revision(url: str) -> str | None:
    """The revision of a database; None if it is empty."""
    return schema_status(url).revision


def create(url: str) -> None:
    """Create this release's tables in an empty SQLite database at once; upgrade one that has tables."""
    from models.database.creation import create_tables

    with _engine(url) as engine, writing(engine) as connection:
        created = create_tables(connection, REVISION)
    if not created:
        upgrade(url)


def upgrade(url: str, revision: str = "head", *, silent_seconds: float | None = None) -> None:
    """Upgrade a database to a revision in one transaction; concurrent upgrades wait for each other.

    With `silent_seconds`, nothing changes while a worker with a heartbeat within that time is incompatible with the new
    tables.

    Raises
    ------
    OlderWorkers
        If running workers are incompatible.
    """

    def refuse(connection: Connection) -> None:
        if silent_seconds is not None:
            _refuse_older_workers(connection, silent_seconds)

    with _engine(url) as engine:
        _run(engine, "upgrade", revision, refuse)


def downgrade(url: str, revision: str) -> None:
    """Downgrade a database to a revision; "base" empties it."""
    with _engine(url) as engine:
        _run(engine, "downgrade", revision)


def configuration(connection: Connection | None = None) -> Config:
    """Alembic's configuration for this connection."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations_folder()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def _refuse_older_workers(connection: Connection, silent_seconds: float) -> None:
    tables = read_schema_status(connection)
    older = [each for each in living_workers(connection, silent_seconds) if not tables.supports(each.revision)]
    if older:
        raise OlderWorkers(
            f"The new tables (revision {tables.revision}) need programs of revision {tables.oldest} or later, and "
            "these workers that are alive are older: "
            + ", ".join(f"{each.id} (version {each.version})" for each in older)
            + ". Nothing was changed. Stop them first, or use --force, which makes them stop."
        )


def _run(
    engine: Engine, direction: str, revision: str, check: Callable[[Connection], None] = lambda _connection: None
) -> None:
    from alembic import command

    if engine.dialect.name == "sqlite":
        # SQLite changes a table by creating a replacement, which no row may refer to meanwhile.
        event.listen(engine, "connect", _without_foreign_keys)
    with _alone(engine) as connection:
        getattr(command, direction)(configuration(connection), revision)
        if connection.dialect.name == "sqlite":
            broken = connection.execute(text("PRAGMA foreign_key_check")).all()
            assert not broken, f"the migration left rows that point nowhere: {broken[:3]}"
        check(connection)


@contextmanager
def _alone(engine: Engine) -> Iterator[Connection]:
    """A transaction with exclusive use of the tables. Raises Unreachable."""
    for attempt in range(1, TRIES + 1):
        with writing(engine) as connection:
            if connection.dialect.name != "postgresql" or _lock(connection):
                yield connection
                return
            connection.rollback()
        time.sleep(0.1 * min(attempt, 10))
    raise Unreachable(
        "The tables cannot be changed: they have been in constant use for a minute. Nothing was "
        "changed. Try again when the database is less busy, or stop workers and the scheduler first."
    )


def _lock(connection: Connection) -> bool:
    """Lock all tables before changing any; False if other transactions did not release them in time."""
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    tables = inspect(connection).get_table_names()
    if not tables:
        return True
    # Transactions that wait for us may hold locks that we wait for. PostgreSQL would end them after a second, so we
    # time out first.
    connection.execute(text(f"SET LOCAL statement_timeout = {round(1000 * LOCK_SECONDS)}"))
    quote = connection.dialect.identifier_preparer.quote
    try:
        connection.execute(text(f"LOCK TABLE {', '.join(map(quote, sorted(tables)))} IN ACCESS EXCLUSIVE MODE"))
    except OperationalError as error:
        if getattr(error.orig, "sqlstate", None) not in {CANCELED, DEADLOCK}:
            raise
        return False
    connection.execute(text("SET LOCAL statement_timeout = 0"))
    return True


def _without_foreign_keys(connection: Any, record: object) -> None:  # noqa: ARG001
    connection.execute("PRAGMA foreign_keys = OFF")


@contextmanager
def _engine(url: str) -> Iterator[Engine]:
    engine = make_engine(url, pooled=False)
    try:
        yield engine
    except DBAPIError as error:
        if classify_error(error) is None:
            raise
        raise Unreachable(explain(error)) from error
    finally:
        engine.dispose()
