"""Engines and transactions, on SQLite and PostgreSQL.

An engine belongs to the process that made it: make it after a fork, never before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from models.errors import BadDatabaseUrl


def make_engine(url: str, *, relaxed: bool = False, pooled: bool = True) -> Engine:
    """An engine for `sqlite:///FILE` or `postgresql://USER@HOST/NAME`.

    `relaxed` lets PostgreSQL answer before a commit is on disk: right for claims and shards, which
    are run again if they are lost (`writing(durable=True)` overrides it). Without `pooled` no
    connection outlives its transaction. Raises BadDatabaseUrl.
    """
    address = parse_url(url)
    options: dict[str, Any] = {} if pooled else {"poolclass": NullPool}
    if address.get_backend_name() == "postgresql":
        # Prepared statements do not survive pgbouncer and the like; we gain little by them.
        arguments: dict[str, Any] = {"prepare_threshold": None, "connect_timeout": 10}
        if relaxed:
            arguments["options"] = "-c synchronous_commit=off"
        return create_engine(address, connect_args=arguments, pool_pre_ping=pooled, **options)
    engine = create_engine(address, **options)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def parse_url(url: str) -> URL:
    """A database URL with our driver in it. Raises BadDatabaseUrl."""
    try:
        address = make_url(url)
    except ArgumentError as error:
        raise BadDatabaseUrl(
            f"{url!r} is not a database URL. Write sqlite:///FILE or postgresql://USER@HOST/NAME."
        ) from error
    backend = address.get_backend_name()
    if backend in {"postgresql", "postgres"}:
        return address.set(drivername="postgresql+psycopg")
    if backend == "sqlite" and address.database not in {None, "", ":memory:"}:
        return address
    raise BadDatabaseUrl(
        f"{address.render_as_string(hide_password=True)} cannot be used: several processes share the "
        "database, so it must be sqlite:///FILE or postgresql://USER@HOST/NAME."
    )


def sqlite_file(url: str) -> str | None:
    """The file of a SQLite URL; None for PostgreSQL."""
    address = parse_url(url)
    return address.database if address.get_backend_name() == "sqlite" else None


@contextmanager
def writing(engine: Engine, *, durable: bool = False) -> Iterator[Connection]:
    """A transaction that may write: committed at the end, rolled back on an exception.

    `durable` makes sure that it is on disk even on a `relaxed` engine.
    """
    with engine.begin() as connection:
        if durable and connection.dialect.name == "postgresql":
            connection.exec_driver_sql("SET LOCAL synchronous_commit TO on")
        yield connection


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A transaction that only reads; on SQLite it waits for no writer."""
    with engine.connect().execution_options(postgresql_readonly=True, reads_only=True) as connection:
        yield connection


def _prepare_sqlite(connection: Any, record: object) -> None:  # noqa: ARG001
    # The driver must not open transactions by itself: it would use a plain BEGIN.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA busy_timeout = 30000")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that begins by reading and then wants to write dies with "database is locked"
    # when another wrote in between, whatever the timeout; so writers queue up at the start.
    reads_only = connection.get_execution_options().get("reads_only", False)
    connection.exec_driver_sql("BEGIN" if reads_only else "BEGIN IMMEDIATE")
