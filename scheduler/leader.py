"""Being the only scheduler of a database: by an advisory lock in PostgreSQL, by a file beside SQLite's."""

from __future__ import annotations

import fcntl
import os
import struct
import sys
from typing import Protocol

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from models.session import make_engine, sqlite_file

_LOCK = 0x5354_4545_4C59_4153


class Leadership(Protocol):
    """The right to hand out work. Two schedulers at once would be harmless, but a waste."""

    def acquire(self) -> bool:
        """Try to get it; False when another process has it."""

    def held(self) -> bool:
        """Whether it is still ours."""

    def release(self) -> None:
        """Give it up."""


def leadership(url: str) -> Leadership:
    """The leadership of the database of that URL, not acquired yet."""
    file = sqlite_file(url)
    return DatabaseLock(url) if file is None else FileLock(f"{file}.scheduler")


def is_led(connection: Connection, url: str) -> bool | None:
    """Whether somebody hands out the work of this database, without taking the lead; None where it cannot be told.

    Not for a process that leads: it would lose its lock on the file by looking at it.
    """
    file = sqlite_file(url)
    if file is not None:
        return _is_locked(f"{file}.scheduler")
    locks = text(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1 "
        "AND CAST(classid AS bigint) = :high AND CAST(objid AS bigint) = :low "
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    return bool(connection.scalar(locks, {"high": _LOCK >> 32, "low": _LOCK & 0xFFFF_FFFF}))


def _is_locked(path: str) -> bool | None:
    if sys.platform != "linux":
        # The question is put in a structure that every system lays out in its own way.
        return None
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    try:
        layout = "hhqqi"
        asked = struct.pack(layout, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        answer = struct.unpack(layout, fcntl.fcntl(file, fcntl.F_GETLK, asked))
        return bool(answer[0] != fcntl.F_UNLCK)
    finally:
        os.close(file)


class FileLock:
    """A lock on a file; the system drops it when the process ends, however it ends."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: int | None = None

    def acquire(self) -> bool:
        """Try to lock the file."""
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            # Not flock: pool processes would inherit the lock and hold it when this process is gone.
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            return False
        self._file = file
        return True

    def held(self) -> bool:
        """Whether the file is locked by us."""
        return self._file is not None

    def release(self) -> None:
        """Unlock the file. It stays: a file that is removed can be locked twice."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


class DatabaseLock:
    """PostgreSQL's advisory lock, which lives as long as its connection."""

    def __init__(self, url: str) -> None:
        self._engine: Engine = make_engine(url, pooled=False)
        self._connection: Connection | None = None

    def acquire(self) -> bool:
        """Try to get the lock on a connection of its own."""
        connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        if connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": _LOCK}):
            self._connection = connection
            return True
        connection.close()
        return False

    def held(self) -> bool:
        """Whether the connection, and with it the lock, is still there."""
        if self._connection is None:
            return False
        try:
            self._connection.execute(text("SELECT 1"))
        except DBAPIError:
            self.release()
            return False
        return True

    def release(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
