"""Classes of database errors, with advice for people."""

from __future__ import annotations

import sqlite3
from enum import StrEnum
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from runtime.redaction import redacted, shown_url

if TYPE_CHECKING:
    from sqlalchemy import URL
    from sqlalchemy.engine import ExceptionContext

_AGAIN = "Then run the same command again: it goes on where this one stopped."


class DatabaseProblem(StrEnum):
    """What is wrong with a database, and what to do about it. Transactions are never stored in part."""

    AWAY = "See that it runs and that STEELYARD_DATABASE_URL names it."
    """A server that is unreachable, starting, or has closed the connection."""
    BUSY = f"Another program holds it for too long: wait for that program, or end it. {_AGAIN}"
    FULL = f"What was finished is kept. Free some space. {_AGAIN}"
    UNRELIABLE = f"What was finished is kept. See that the disk has space and works. {_AGAIN}"
    FORBIDDEN = "Let this user write the file and its folder, or name another database by STEELYARD_DATABASE_URL."
    CLOSED = "See that its folder exists and that this user may write there, or set STEELYARD_DATABASE_URL."
    DAMAGED = "It is no database, or damaged. Name another file by STEELYARD_DATABASE_URL, or restore it from a backup."

    @property
    def is_transient(self) -> bool:
        """Whether the operation may succeed shortly."""
        return self in {DatabaseProblem.AWAY, DatabaseProblem.BUSY}


_SQLITE = {
    sqlite3.SQLITE_BUSY: DatabaseProblem.BUSY,
    sqlite3.SQLITE_LOCKED: DatabaseProblem.BUSY,
    sqlite3.SQLITE_PROTOCOL: DatabaseProblem.BUSY,
    sqlite3.SQLITE_FULL: DatabaseProblem.FULL,
    sqlite3.SQLITE_IOERR: DatabaseProblem.UNRELIABLE,
    sqlite3.SQLITE_READONLY: DatabaseProblem.FORBIDDEN,
    sqlite3.SQLITE_PERM: DatabaseProblem.FORBIDDEN,
    sqlite3.SQLITE_CANTOPEN: DatabaseProblem.CLOSED,
    sqlite3.SQLITE_CORRUPT: DatabaseProblem.DAMAGED,
    sqlite3.SQLITE_NOTADB: DatabaseProblem.DAMAGED,
}

_STATES = {"53100": DatabaseProblem.FULL, "25P03": DatabaseProblem.AWAY}
"""A full disk, and a connection closed because its process was idle in a transaction."""

_POSTGRES = {
    "08": DatabaseProblem.AWAY,
    "57": DatabaseProblem.AWAY,
    "40": DatabaseProblem.BUSY,
    "53": DatabaseProblem.BUSY,
    "55": DatabaseProblem.BUSY,
}
"""By the first two characters of SQLSTATE: connections, interventions, deadlocks, resources, locks."""

_INTEGRITY = "23"
"""Violations of keys and checks."""


def classify_error(error: BaseException) -> DatabaseProblem | None:
    """The class of a database error; None if the statement itself is at fault."""
    if not isinstance(error, DBAPIError):
        return None
    cause = error.orig
    if isinstance(cause, sqlite3.Error):
        # The low byte: extended codes do not change the advice.
        return _SQLITE.get(getattr(cause, "sqlite_errorcode", 0) & 0xFF)
    state = getattr(cause, "sqlstate", None)
    if state:
        return _STATES.get(state) or _POSTGRES.get(state[:2])
    # A refused or broken connection has no SQLSTATE.
    return DatabaseProblem.AWAY if isinstance(error, (OperationalError, InterfaceError)) else None


def is_transient(error: BaseException) -> bool:
    """Whether the operation may succeed shortly, or once an unreachable server is back."""
    problem = classify_error(error)
    return problem is not None and (
        problem.is_transient or (problem == DatabaseProblem.FULL and not _is_local_file(error))
    )


def is_transient_server_error(error: BaseException) -> bool:
    """Whether it is a transient problem of a server: a waiting command should keep waiting."""
    return is_transient(error) and not _is_local_file(error)


def explain(error: DBAPIError) -> str:
    """What was found, where, and what to do."""
    said = (str(error.orig).strip().splitlines() or [type(error.orig).__name__])[0]
    found = redacted(f"The database {getattr(error, 'database', '')} cannot be used: {said}".replace("  ", " "))
    return f"{found.rstrip('.')}. {classify_error(error) or 'Check STEELYARD_DATABASE_URL.'}"


def redact_values(context: ExceptionContext) -> None:
    """Remove row values from an error: they are users' texts and must not appear in logs or responses."""
    cause, error = context.original_exception, context.sqlalchemy_exception
    found = getattr(getattr(cause, "diag", None), "message_primary", None)
    if found is None or not (getattr(cause, "sqlstate", None) or "").startswith(_INTEGRITY):
        return
    said = str(cause)
    cause.args = (found,)
    if error is not None:
        error.args = tuple(each.replace(said, found) if isinstance(each, str) else each for each in error.args)


def name_database(address: URL, context: ExceptionContext) -> None:
    """Attach the database's name to an error, for `explain`."""
    error = context.sqlalchemy_exception
    if error is not None:
        shown = address.database if address.get_backend_name() == "sqlite" else shown_url(address)
        error.database = shown  # type: ignore[attr-defined]


def _is_local_file(error: BaseException) -> bool:
    """Whether it is a local file, which only the user of the command watches."""
    return isinstance(error, DBAPIError) and isinstance(error.orig, sqlite3.Error)
