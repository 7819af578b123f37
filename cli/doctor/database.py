"""Checks of the database: reachable, upgraded, fit for several machines, with room for all connections."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.doctor.finding import Finding

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from runtime.service_settings import WebSettings

MOST_SECONDS_APART = 5.0
"""Between the clocks of database and machine. Leases use the database's alone; logs and cookies do not."""
NOTIFIED_SECONDS = 3.0
OLDEST_POSTGRES = 130000


def check_tables(settings: WebSettings) -> Finding:
    """Check whether the database can be reached and has the tables of this release."""
    from sqlalchemy.exc import DBAPIError

    from models.database import migrate
    from models.database.error_kinds import explain
    from models.database.session import sqlite_file
    from models.errors import ModelsError, Unreachable

    try:
        # SQLite would create it.
        if (file := sqlite_file(settings.database_url)) is not None and not Path(file).exists():
            return Finding.problem("database", f"there is no file {file}", "Run `steelyard db upgrade`.")
        tables = migrate.schema_status(settings.database_url)
    except (DBAPIError, Unreachable) as error:
        said = explain(error) if isinstance(error, DBAPIError) else str(error)
        correct = "Correct STEELYARD_DATABASE_URL."
        start = "Start it, or correct STEELYARD_DATABASE_URL (and PGPASSWORD)."
        return Finding.problem("database", said, correct if file else start)
    except ModelsError as error:
        return Finding.problem("database", str(error), "Correct STEELYARD_DATABASE_URL.")
    if problem := tables.problem(migrate.REVISION):
        said, _, fix = problem.rstrip(".").rpartition(". ")
        return Finding.problem("database", f"{said or problem}.", f"{fix}.")
    return Finding.ok("database", f"reachable, tables of revision {tables.revision}")


def check_database_server(settings: WebSettings, engine: Engine) -> Iterator[Finding]:
    """Check the server behind a database whose tables are there."""
    from models.database.session import reading, sqlite_file

    if sqlite_file(settings.database_url) is not None:
        with reading(engine) as connection:
            yield _check_journal(connection)
        return
    with reading(engine) as connection:
        yield from _check_postgres(connection)
    yield _check_notifications(settings, engine)


def _check_journal(connection: Connection) -> Finding:
    mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar_one()
    if mode != "wal":
        return Finding.problem(
            "SQLite", f"its journal is {mode}", "Put the file on a local disk: network file systems allow no WAL."
        )
    return Finding.ok("SQLite", "write-ahead log in use; for one machine")


def _check_postgres(connection: Connection) -> Iterator[Finding]:
    from sqlalchemy import text

    row = connection.execute(
        text(
            "SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version,"
            " current_setting('max_connections')::int AS most, current_setting('fsync') AS fsync,"
            " current_setting('full_page_writes') AS pages,"
            " (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,"
            " extract(epoch FROM clock_timestamp()) AS at"
        )
    ).one()
    apart = abs(float(row.at) - time.time())
    if row.number < OLDEST_POSTGRES:
        yield Finding.problem("PostgreSQL", f"version {row.version}", "Upgrade to PostgreSQL 13 or later.")
    elif "off" in (row.fsync, row.pages):
        off = "fsync" if row.fsync == "off" else "full_page_writes"
        yield Finding.problem("PostgreSQL", f"{off} is off: a crash can destroy it", f"Set {off} = on.")
    else:
        yield Finding.ok("PostgreSQL", f"version {row.version}, durable")
    connections = f"{row.used:,} of {row.most:,} are used"
    if row.used > 0.8 * row.most:
        fix = "Raise max_connections, or put PgBouncer in between (and set STEELYARD_LISTEN_URL)."
        yield Finding.warning("connections", connections, fix)
    else:
        yield Finding.ok("connections", connections)
    if apart > MOST_SECONDS_APART:
        yield Finding.warning(
            "clocks", f"database and this machine are {apart:,.0f} s apart", "Run a time service on both."
        )
    else:
        yield Finding.ok("clocks", "database and this machine agree")


def _check_notifications(settings: WebSettings, engine: Engine) -> Finding:
    """Listen, and send ourselves a notification: a pooler would hand the listening connection to others."""
    from sqlalchemy.exc import DBAPIError

    from models.database.error_kinds import explain
    from models.database.session import CHANNEL, autocommit_reading, make_engine

    own = "Set STEELYARD_LISTEN_URL to an address of PostgreSQL itself, not of a pooler."
    listening = make_engine(settings.listen_url or settings.database_url, pooled=False)
    try:
        with autocommit_reading(listening) as connection:
            connection.exec_driver_sql(f"LISTEN {CHANNEL}")
            with autocommit_reading(engine) as sender:
                sender.exec_driver_sql(f"NOTIFY {CHANNEL}")
            driver: Any = connection.connection.driver_connection
            notified = bool(list(driver.notifies(timeout=NOTIFIED_SECONDS, stop_after=1)))
    except DBAPIError as error:
        return Finding.problem("notifications", explain(error), own)
    if not notified:
        return Finding.warning(
            "notifications", f"none arrived within {NOTIFIED_SECONDS:g} s, so the database is polled", own
        )
    return Finding.ok("notifications", "commits are notified of")
