"""Engines and transactions, on SQLite and PostgreSQL.

An engine belongs to the process that creates it: create it after a fork, never before.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, OperationalError

from models.database.error_kinds import name_database, redact_values
from models.database.forking import unforked
from models.errors import BadDatabaseUrl, RowsHeld
from runtime.private_files import keep_database_private
from runtime.redaction import redacted, shown_url

if TYPE_CHECKING:
    from psycopg import Cursor

BUSY_SECONDS = 30.0
"""How long SQLite waits for a locked database; `sqlite:///FILE?timeout=SECONDS` overrides it."""

SQLITE_OPTIONS = frozenset({"cache", "immutable", "mode", "nolock", "timeout", "uri", "vfs"})

LOCK_NOT_AVAILABLE = "55P03"
"""PostgreSQL's error when the wait for a row lock times out."""

CHANNEL = "steelyard"
"""The channel of PostgreSQL's notifications of commits; channels belong to one database."""

IDLE_SECONDS = 30.0
"""PostgreSQL ends a writing transaction that has been idle this long: others may wait for its locks."""


def make_engine(
    url: str,
    *,
    relaxed: bool = False,
    pooled: bool = True,
    connections: int | None = None,
    binary: bool = False,
    statement_seconds: float | None = None,
    prepared: bool = False,
    retried: bool = False,
) -> Engine:
    """Create an engine for `sqlite:///FILE` or `postgresql://USER@HOST/NAME`.

    Parameters
    ----------
    url : str
        The database URL.
    relaxed : bool
        Let PostgreSQL confirm commits before they are on disk: right for claims and shards, which are repeated if lost
        (`writing(durable=True)` overrides it).
    pooled : bool
        Whether connections are kept after their transactions.
    connections : int
        Maximum number of connections (15).
    binary : bool
        Transfer rows and arrays in binary form rather than blobs as hexadecimal digits: for readers and writers of
        large blobs. Do not use it to read PostgreSQL's catalogue.
    statement_seconds : float
        Time limit of a statement; on SQLite, a limit on the equivalent amount of work.
    prepared : bool
        Let PostgreSQL plan a statement once for a connection: for processes that find few rows by their keys, again and
        again. Not through a pooler such as PgBouncer, whose connections forget what was prepared.
    retried : bool
        Whoever uses it begins a transaction anew that the database did not end: so no connection is tried before each
        transaction, which takes PostgreSQL a round trip.

    Raises
    ------
    BadDatabaseUrl
        If the URL is invalid.
    """
    address = parse_url(url)
    # Errors are logged, and statement parameters are users' texts.
    options: dict[str, Any] = {"hide_parameters": True, "execution_options": {"relaxed": relaxed}}
    if not pooled:
        options["poolclass"] = NullPool
    elif connections is not None:
        options |= {"pool_size": min(connections, 5), "max_overflow": max(0, connections - 5)}
    if address.get_backend_name() == "postgresql":
        arguments: dict[str, Any] = {"prepare_threshold": 5 if prepared else None, "connect_timeout": 10}
        if binary:
            arguments["cursor_factory"] = _binary_cursor()
        settings = ["-c synchronous_commit=off"] if relaxed else []
        if statement_seconds is not None:
            settings.append(f"-c statement_timeout={math.ceil(1000 * statement_seconds)}")
        if settings:
            arguments["options"] = " ".join(settings)
        try:
            engine = create_engine(address, connect_args=arguments, pool_pre_ping=pooled and not retried, **options)
        except ArgumentError as error:
            raise BadDatabaseUrl(f"{shown_url(address)} cannot be used: {redacted(str(error))}.") from None
        if binary:
            event.listen(engine, "connect", _send_arrays_in_binary_form)
    else:
        engine = create_engine(address.update_query_dict({"timeout": str(_busy_seconds(address))}), **options)
        event.listen(engine, "do_connect", _keep_sqlite_private)
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        event.listen(engine, "invalidate", _roll_back_sqlite)
        if statement_seconds is not None:
            event.listen(engine, "connect", partial(_bound_sqlite, statement_seconds))
            event.listen(engine, "before_cursor_execute", _begin_to_count)
    event.listen(engine, "handle_error", partial(name_database, address))
    event.listen(engine, "handle_error", redact_values)
    return engine


def make_steady_engine(url: str, *, forks: bool = True) -> Engine:
    """A `relaxed` engine of one connection, for a thread that queries now and then in a process that `forks`.

    On SQLite no connection outlives its transaction then: forked processes would inherit SQLite's record of its locks.
    They do not touch a connection to PostgreSQL, nor does its driver.
    """
    steady = not forks or sqlite_file(url) is None
    return make_engine(url, relaxed=True, pooled=steady, connections=1 if steady else None)


def parse_url(url: str) -> URL:
    """Parse a database URL and add our driver.

    Raises
    ------
    BadDatabaseUrl
        If the URL is invalid.
    """
    # Repeat nothing of a URL that cannot be parsed, and do not chain the error: any part of it may be a password.
    try:
        address = make_url(url)
    except ArgumentError:
        raise BadDatabaseUrl(f"{_kind(url)} is not a database URL. {_WRITE}") from None
    except ValueError:
        raise BadDatabaseUrl(f"The port in {_kind(url)} is not a number. {_WRITE}") from None
    if "@" in (address.host or ""):
        raise BadDatabaseUrl(
            f"There is more than one @ in {_kind(url)}: write %40 for one that belongs to the password, or give the "
            "password in PGPASSWORD."
        )
    if address.port is not None and not 0 < address.port < 1 << 16:
        raise BadDatabaseUrl(f"The port {address.port} in {shown_url(address)} is not between 1 and 65535.")
    backend = address.get_backend_name()
    if backend in {"postgresql", "postgres"}:
        return address.set(drivername="postgresql+psycopg")
    if backend == "sqlite" and address.database not in {None, "", ":memory:"}:
        if unknown := sorted(set(address.query) - SQLITE_OPTIONS):
            raise BadDatabaseUrl(f"SQLite has no option {unknown[0]!r}; it has {', '.join(sorted(SQLITE_OPTIONS))}.")
        _busy_seconds(address)
        return address.set(drivername="sqlite")
    raise BadDatabaseUrl(
        f"{shown_url(address)} cannot be used: several processes share the "
        "database, so it must be sqlite:///FILE or postgresql://USER@HOST/NAME."
    )


_WRITE = "Write sqlite:///FILE or postgresql://USER@HOST/NAME."


def _kind(url: str) -> str:
    """The scheme of a URL, if it has one."""
    found = re.match(r"[A-Za-z][A-Za-z0-9+.-]{0,30}://", url)
    return f'"{found[0]}..."' if found else "What was given"


def sqlite_file(url: str) -> str | None:
    """The file of a SQLite URL; None for PostgreSQL."""
    address = parse_url(url)
    return address.database if address.get_backend_name() == "sqlite" else None


READS: dict[str, dict[str, Any]] = {
    # By default PostgreSQL takes a new snapshot for each statement: a status or a leaderboard would mix moments.
    "postgresql": {"postgresql_readonly": True, "isolation_level": "REPEATABLE READ"},
    "sqlite": {"reads_only": True},
}
"""Options that make a connection read-only, with one snapshot."""


BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
ON_DISK = "BEGIN; SET LOCAL synchronous_commit = 'on'; SELECT pg_logical_emit_message(true, 'steelyard', ''); COMMIT"
"""Waits until the disk has all that was committed: what it writes into the log comes after that."""


@contextmanager
def writing(
    engine: Engine, *, durable: bool = False, lock_seconds: float | None = None, notify: bool = True
) -> Iterator[Connection]:
    """A transaction that may write: committed at the end, rolled back on an exception.

    Listeners (`models.database.changes`) are notified after the commit, if `notify`. `durable` makes sure that it is on
    disk even on a `relaxed` engine. With `lock_seconds`, PostgreSQL waits no longer than that for rows locked by
    others, and RowsHeld is raised.
    """
    if engine.dialect.name == "sqlite":
        with unforked(), engine.begin() as connection:
            yield connection
        return
    # The driver would begin the transaction by a message of its own.
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection, connection.begin() as begun:
        values = {"idle_in_transaction_session_timeout": f"{round(1000 * IDLE_SECONDS)}"}
        # A durable transaction is on disk before this returns, but others need not wait for the disk to get its locks.
        # Relaxed ones say it again: a pooler such as PgBouncer knows nothing of what a connection began with.
        if durable or connection.get_execution_options().get("relaxed"):
            values["synchronous_commit"] = "off"
        if lock_seconds is not None:
            values["lock_timeout"] = f"{round(1000 * lock_seconds)}"
        local = "".join(f"; SET LOCAL {name} = '{value}'" for name, value in values.items())
        connection.exec_driver_sql(f"{BEGIN}{local}", execution_options={"no_parameters": True})
        try:
            yield connection
        except OperationalError as error:
            if getattr(error.orig, "sqlstate", None) == LOCK_NOT_AVAILABLE:
                raise RowsHeld from error
            raise
        # Not if it was rolled back before its end.
        if begun.is_active and (durable or notify):
            # In one message, but not in one transaction: all commits would wait for each other's disk.
            ending = ["COMMIT", *([ON_DISK] if durable else []), *([f"NOTIFY {CHANNEL}"] if notify else [])]
            connection.exec_driver_sql("; ".join(ending), execution_options={"no_parameters": True})


@contextmanager
def autocommit_writing(engine: Engine) -> Iterator[Connection]:
    """A connection for frequent, independent writing statements that need no notification."""
    if engine.dialect.name == "sqlite":
        with writing(engine) as connection:
            yield connection
    else:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            yield connection


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A read-only transaction with one snapshot: no statement sees what was committed after the first.

    On SQLite it does not wait for writers.
    """
    with engine.connect().execution_options(**READS[engine.dialect.name]) as connection:
        yield connection
        # The driver forgets what it has prepared at each rollback, which is how a connection is closed otherwise.
        connection.commit()


@contextmanager
def autocommit_reading(engine: Engine) -> Iterator[Connection]:
    """A connection for frequent, independent reading statements, without the cost of a transaction."""
    options = READS["sqlite"] if engine.dialect.name == "sqlite" else {"isolation_level": "AUTOCOMMIT"}
    with engine.connect().execution_options(**options) as connection:
        yield connection


@cache
def _binary_cursor() -> type[Cursor[Any]]:
    """A cursor class that receives rows in binary form."""
    from psycopg import Cursor
    from psycopg.pq import Format

    class BinaryCursor(Cursor[Any]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.format = Format.BINARY

        def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
            # Several statements in one message, which have no parameters, cannot be prepared or have binary results.
            several = {} if params is not None else {"prepare": False, "binary": False}
            return super().execute(query, params, **several, **options)

    return BinaryCursor


def _send_arrays_in_binary_form(connection: Any, record: object) -> None:  # noqa: ARG001
    from psycopg.types.array import ListBinaryDumper

    connection.adapters.register_dumper(list, ListBinaryDumper)


def _busy_seconds(address: URL) -> float:
    given = address.query.get("timeout", str(BUSY_SECONDS))
    seconds = given if isinstance(given, str) else given[-1]
    try:
        if 0 <= float(seconds) < math.inf:
            return float(seconds)
    except ValueError:
        pass
    raise BadDatabaseUrl(f"{seconds[:50]!r} is no number of seconds, such as sqlite:///FILE?timeout={BUSY_SECONDS:g}.")


def _keep_sqlite_private(dialect: object, record: object, arguments: Sequence[Any], options: object) -> None:  # noqa: ARG001
    # A URI may request read-only access.
    if arguments and not str(arguments[0]).startswith("file:"):
        keep_database_private(str(arguments[0]))


def _prepare_sqlite(connection: Any, record: object) -> None:  # noqa: ARG001
    # The driver must not open transactions itself: it would use a plain BEGIN.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _roll_back_sqlite(connection: sqlite3.Connection, record: object, error: object) -> None:  # noqa: ARG001
    # SQLAlchemy closes a connection when Ctrl-C interrupts a statement. But SQLite closes it only once the statement is
    # gone as well, and the traceback keeps it: until then nothing could write, not even to clean up.
    with suppress(sqlite3.Error):
        connection.rollback()


STEPS_AT_ONCE = 1_000_000
"""Instructions of SQLite's virtual machine between two checks."""
STEPS_PER_SECOND = 50_000_000
"""Half of the measured rate of a counting statement, so that slow machines get their time, too."""


def _bound_sqlite(seconds: float, connection: Any, record: Any) -> None:
    """End a statement after a number of instructions: its time would include a slow reader of its rows."""
    most = math.ceil(seconds * STEPS_PER_SECOND / STEPS_AT_ONCE)

    def is_too_much() -> bool:
        record.info[LOOKS] = record.info.get(LOOKS, 0) + 1
        return bool(record.info[LOOKS] > most)

    connection.set_progress_handler(is_too_much, STEPS_AT_ONCE)


LOOKS = "looks"
"""The number of checks of the statement."""


def _begin_to_count(connection: Connection, *_: object) -> None:
    connection.info[LOOKS] = 0


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that begins by reading and then writes fails with "database is locked" if another one wrote in
    # between, whatever the timeout; so writers queue at the start.
    reads_only = connection.get_execution_options().get("reads_only", False)
    connection.exec_driver_sql("BEGIN" if reads_only else "BEGIN IMMEDIATE")
