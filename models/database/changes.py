"""Hearing that something was committed to the database, instead of asking again and again.

PostgreSQL notifies whoever listens: each transaction of `models.database.session.writing` says so at its commit. SQLite
counts commits, and that number (`PRAGMA data_version`) is read without a transaction. A change that is not heard costs
the time that its listener waits at most, never work.
"""

from __future__ import annotations

import logging
import threading
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy.exc import DBAPIError

from models.database.forking import unforked
from models.database.session import CHANNEL, make_engine, reading_once, sqlite_file

if TYPE_CHECKING:
    from types import TracebackType

    from sqlalchemy import Connection

    from runtime.settings import Settings

log = logging.getLogger(__name__)

STOP_SECONDS = 0.5
"""How soon one who waits sees that he is to stop."""
RETRY_SECONDS = 1.0
"""Between two tries to connect."""
DEAF_SECONDS = 5.0
"""After so long without our own notification, nothing can be heard on a connection."""


def listen(settings: Settings) -> Listener:
    """A listener to the database that these settings name."""
    if sqlite_file(settings.database_url) is not None:
        return _Versions(settings)
    return _Notifications(settings)


class Listener(ABC):
    """Hears what other connections commit from its first `wait` on; for one thread of the process that makes it."""

    def __init__(self, settings: Settings) -> None:
        self.every = settings.tick_seconds
        """Seconds between two looks at SQLite, and between returns of `wait` as long as PostgreSQL cannot be heard."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def wait(self, seconds: float, stop: threading.Event | None = None) -> bool:
        """Wait until something is committed, or was since the last call; True also where that cannot be known.

        False after so many seconds, and once `stop` is set.
        """
        deadline = time.monotonic() + seconds
        while stop is None or not stop.is_set():
            left = deadline - time.monotonic()
            if self._hears(max(0.0, min(left, STOP_SECONDS))):
                return True
            if left <= 0:
                return False
        return False

    @abstractmethod
    def _hears(self, seconds: float) -> bool:
        """As `wait`, and it may return sooner."""

    @abstractmethod
    def close(self) -> None:
        """Give up the connection; the next `wait` makes another."""


class _Versions(Listener):
    """SQLite: the number changes with each commit of another connection, in whatever process."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._engine = make_engine(settings.database_url, pooled=False)
        self._connection: Any = None
        self._version: int | None = None

    def _hears(self, seconds: float) -> bool:
        before = self._version
        try:
            if self._connection is None:
                self._connection = self._engine.raw_connection()
            with unforked():
                # Not by the engine, which would begin a transaction.
                (self._version,) = self._connection.driver_connection.execute("PRAGMA data_version").fetchone()
        except Exception as error:  # the driver's own errors, too
            log.debug("It cannot be seen whether the database has changed: %s", error)
            self.close()
        if self._version is None or self._version != before:
            if self._version is None:
                time.sleep(min(seconds, self.every))
            return True
        time.sleep(min(seconds, self.every))
        return False

    def close(self) -> None:
        self._version = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class _Notifications(Listener):
    """PostgreSQL: a connection that listens, and is made again when it breaks."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._writer = make_engine(settings.database_url, pooled=False)
        self._engine = make_engine(settings.listen_url or settings.database_url, pooled=False)
        self._apart = settings.listen_url is not None
        self._connection: Connection | None = None
        self._next_try = 0.0
        self._connected_at = 0.0
        self._hearing = False
        """Whether anything was heard on this connection: at first our own notification."""
        self._complained = False

    def _hears(self, seconds: float) -> bool:
        if self._connection is None and time.monotonic() >= self._next_try:
            self._connect()
        if self._connection is None:
            time.sleep(min(seconds, self.every))
            return True
        driver: Any = self._connection.connection.driver_connection
        longest = seconds if self._hearing else min(seconds, self.every)
        try:
            heard = bool(list(driver.notifies(timeout=longest, stop_after=1)))
        except Exception as error:  # the driver's own errors: the engine knows nothing of them
            log.info("The connection that hears of changes broke, and is made again: %s", error)
            self.close()
            return True
        self._hearing |= heard
        if not self._hearing and time.monotonic() > self._connected_at + DEAF_SECONDS:
            self._complain("notifications of PostgreSQL do not arrive: a pooler such as PgBouncer may be before it")
        return heard or not self._hearing

    def _connect(self) -> None:
        self._next_try = time.monotonic() + RETRY_SECONDS
        try:
            connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            self._connection = connection
            connection.exec_driver_sql(f"LISTEN {CHANNEL}")
            with reading_once(self._writer) as writer:
                writer.exec_driver_sql(f"NOTIFY {CHANNEL}")
        except DBAPIError as error:
            self.close()
            # Of a database that is away others tell.
            if self._apart:
                self._complain(f"STEELYARD_LISTEN_URL cannot be reached: {error.orig}")
            return
        self._connected_at = time.monotonic()

    def _complain(self, what: str) -> None:
        if not self._complained:
            log.warning(
                "The database is asked for changes every %g s, since %s. "
                "Let STEELYARD_LISTEN_URL name where PostgreSQL itself is reached.",
                self.every,
                what,
            )
        self._complained = True

    def close(self) -> None:
        self._hearing = False
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection.invalidate()
            connection.close()
