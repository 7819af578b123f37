"""What a database says when it cannot serve us, and what a person can do about it."""

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
    """What is wrong with a database, and what to do; nothing is ever stored by half."""

    AWAY = "See that it runs and that STEELYARD_DATABASE_URL names it."
    """A server that cannot be reached, is just starting, or has cut the connection."""
    BUSY = f"Another program holds it for too long: wait for that program, or end it. {_AGAIN}"
    FULL = f"What was finished is kept. Free some space. {_AGAIN}"
    UNRELIABLE = f"What was finished is kept. See that the disk has space and works. {_AGAIN}"
    FORBIDDEN = "Let this user write the file and its folder, or name another database by STEELYARD_DATABASE_URL."
    CLOSED = "See that its folder exists and that this user may write there, or set STEELYARD_DATABASE_URL."
    DAMAGED = "It is no database, or damaged. Name another file by STEELYARD_DATABASE_URL, or restore it from a backup."

    @property
    def passes(self) -> bool:
        """Whether the same may work in a moment."""
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
"""A full disk, and a connection that was cut because its process slept in the middle of a transaction."""

_POSTGRES = {
    "08": DatabaseProblem.AWAY,
    "57": DatabaseProblem.AWAY,
    "40": DatabaseProblem.BUSY,
    "53": DatabaseProblem.BUSY,
    "55": DatabaseProblem.BUSY,
}
"""By the first two characters of SQLSTATE: connections, interventions, deadlocks, resources, locks."""

_INTEGRITY = "23"
"""Keys and checks that a row would break."""


def classify_error(error: BaseException) -> DatabaseProblem | None:
    """What is wrong with the database; None where the error lies in what it was asked."""
    if not isinstance(error, DBAPIError):
        return None
    cause = error.orig
    if isinstance(cause, sqlite3.Error):
        # The low byte: the others say more than anybody can act on.
        return _SQLITE.get(getattr(cause, "sqlite_errorcode", 0) & 0xFF)
    state = getattr(cause, "sqlstate", None)
    if state:
        return _STATES.get(state) or _POSTGRES.get(state[:2])
    # A connection that is refused or cut has no state.
    return DatabaseProblem.AWAY if isinstance(error, (OperationalError, InterfaceError)) else None


def is_transient(error: BaseException) -> bool:
    """Whether the same may work in a moment, or when a server that is away is back."""
    trouble = classify_error(error)
    return trouble is not None and (trouble.passes or (trouble == DatabaseProblem.FULL and not _is_ours(error)))


def is_transient_server_error(error: BaseException) -> bool:
    """Whether it is a server's trouble that passes: a command that waits had better go on waiting."""
    return is_transient(error) and not _is_ours(error)


def explain(error: DBAPIError) -> str:
    """What was found, where, and what to do."""
    said = (str(error.orig).strip().splitlines() or [type(error.orig).__name__])[0]
    found = redacted(f"The database {getattr(error, 'database', '')} cannot be used: {said}".replace("  ", " "))
    return f"{found.rstrip('.')}. {classify_error(error) or 'Check STEELYARD_DATABASE_URL.'}"


def redact_values(context: ExceptionContext) -> None:
    """Take out of an error what the rows hold that it is about: texts of users, which no log and no answer may have."""
    cause, error = context.original_exception, context.sqlalchemy_exception
    found = getattr(getattr(cause, "diag", None), "message_primary", None)
    if found is None or not (getattr(cause, "sqlstate", None) or "").startswith(_INTEGRITY):
        return
    said = str(cause)
    cause.args = (found,)
    if error is not None:
        error.args = tuple(each.replace(said, found) if isinstance(each, str) else each for each in error.args)


def name_database(address: URL, context: ExceptionContext) -> None:
    """Make an error say which database it is about, for `explain`."""
    error = context.sqlalchemy_exception
    if error is not None:
        shown = address.database if address.get_backend_name() == "sqlite" else shown_url(address)
        error.database = shown  # type: ignore[attr-defined]


def _is_ours(error: BaseException) -> bool:
    """Whether it is a file of this machine, which nobody watches but who runs the command."""
    return isinstance(error, DBAPIError) and isinstance(error.orig, sqlite3.Error)
