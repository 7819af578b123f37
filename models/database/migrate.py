"""Bringing a database to the schema of this release."""

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
"""How long an upgrade waits for the tables at a time."""

TRIES = 60

CANCELED, DEADLOCK = "57014", "40P01"
"""What PostgreSQL says of a statement that took too long, and of one that others waited for who wait for it."""

_LOCK = 0x5354_4545_4C59_4152


def migrations_folder() -> Path:
    """Where the migrations are: beside this file once installed, else in the repository."""
    rooms = Path(__file__).parents[2]
    installed = rooms / "models" / "migrations"
    return installed if (installed / "env.py").is_file() else rooms / "alembic"


REVISION = max(file.name[:8] for file in (migrations_folder() / "versions").glob("*.py"))
"""The newest migration, by the names of their files: an up-to-date database needs no migration library."""


def schema_status(url: str) -> SchemaStatus:
    """Where the tables of a database stand."""
    with _engine(url) as engine, reading(engine) as connection:
        return read_schema_status(connection)


def current_revision(url: str) -> str | None:
    """The revision of a database; None when it is empty."""
    return schema_status(url).revision


def is_up_to_date(url: str) -> bool:
    """Whether a database has the schema of this release."""
    return current_revision(url) == REVISION


def create(url: str) -> None:
    """Give an empty SQLite database the tables of this release at once; one that has tables is upgraded."""
    from models.database.creation import create_tables

    with _engine(url) as engine, writing(engine) as connection:
        created = create_tables(connection, REVISION)
    if not created:
        upgrade(url)


def upgrade(url: str, revision: str = "head", *, silent_seconds: float | None = None) -> None:
    """Bring a database up to a revision, in one transaction; two at once wait for each other.

    With `silent_seconds` nothing is changed where a worker that has beaten within them could not work with the new
    tables. Raises OlderWorkers.
    """

    def refuse(connection: Connection) -> None:
        if silent_seconds is not None:
            _refuse_older_workers(connection, silent_seconds)

    with _engine(url) as engine:
        _run(engine, "upgrade", revision, refuse)


def downgrade(url: str, revision: str) -> None:
    """Take a database down to a revision; "base" empties it."""
    with _engine(url) as engine:
        _run(engine, "downgrade", revision)


def configuration(connection: Connection | None = None) -> Config:
    """What the migration library needs to work on this connection."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations_folder()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def _refuse_older_workers(connection: Connection, silent_seconds: float) -> None:
    tables = read_schema_status(connection)
    older = [each for each in living_workers(connection, silent_seconds) if not tables.serves(each.revision)]
    if older:
        raise OlderWorkers(
            f"The new tables (revision {tables.revision}) need programs of revision {tables.oldest} or later, and "
            "these workers that are alive are older: "
            + ", ".join(f"{each.id} (version {each.version})" for each in older)
            + ". Nothing was changed. Stop them first, or let them be stopped by --force."
        )


def _run(
    engine: Engine, direction: str, revision: str, check: Callable[[Connection], None] = lambda _connection: None
) -> None:
    from alembic import command

    if engine.dialect.name == "sqlite":
        # A table can be changed there only by making another in its place, which others must not hold on to meanwhile.
        event.listen(engine, "connect", _without_foreign_keys)
    with _alone(engine) as connection:
        getattr(command, direction)(configuration(connection), revision)
        if connection.dialect.name == "sqlite":
            broken = connection.execute(text("PRAGMA foreign_key_check")).all()
            assert not broken, f"the migration left rows that point nowhere: {broken[:3]}"
        check(connection)


@contextmanager
def _alone(engine: Engine) -> Iterator[Connection]:
    """A transaction that nobody else is in the way of, nor the other way round. Raises Unreachable."""
    for attempt in range(1, TRIES + 1):
        with writing(engine) as connection:
            if connection.dialect.name != "postgresql" or _lock(connection):
                yield connection
                return
            connection.rollback()
        time.sleep(0.1 * min(attempt, 10))
    raise Unreachable(
        "The tables cannot be changed: others have used some of them without a break for a minute. Nothing was "
        "changed. Try again when less is going on, or stop workers and scheduler meanwhile."
    )


def _lock(connection: Connection) -> bool:
    """Get hold of all tables before any is changed; False when others did not let go of them in time."""
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    tables = inspect(connection).get_table_names()
    if not tables:
        return True
    # Those who wait for us may hold what we wait for. PostgreSQL would end them after a second, so we give way before.
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
