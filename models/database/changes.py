"""Waiting for commits to the database instead of polling it.

On PostgreSQL, `models.database.session.writing` sends a notification after its commit. SQLite counts commits; the
counter (`PRAGMA data_version`) is read without a transaction. A missed change delays a listener by at most its timeout
and never loses work.
"""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy.exc import DBAPIError

from models.database.forking import unforked
from models.database.session import CHANNEL, autocommit_reading, make_engine, sqlite_file

if TYPE_CHECKING:
    from types import TracebackType

    from sqlalchemy import Connection

    from runtime.settings import Settings
    from runtime.stop_request import StopRequest

log = logging.getLogger(__name__)

STOP_SECONDS = 0.5
"""Seconds between checks of `stop` while waiting."""
RETRY_SECONDS = 1.0
"""Seconds between connection attempts."""
DEAF_SECONDS = 5.0
"""Seconds without our own notification after which the connection counts as unable to receive any."""


def listen(settings: Settings) -> Listener:
    """A listener for the database that these settings name."""
    if sqlite_file(settings.database_url) is not None:
        return _Versions(settings)
    return _Notifications(settings)


class Listener(ABC):
    """Detects commits of other connections, from the first `wait` on; for one thread of the process that creates it."""

    def __init__(self, settings: Settings) -> None:
        self.every = settings.tick_seconds
        """Seconds between polls of SQLite, and between returns of `wait` while PostgreSQL cannot notify."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def wait(self, seconds: float, stop: StopRequest | None = None) -> bool:
        """Wait for a commit, including one since the last call.

        True after a commit, and if that cannot be determined. False after `seconds`, and once `stop` is set.
        """
        deadline = time.monotonic() + seconds
        while stop is None or not stop.is_set():
            left = deadline - time.monotonic()
            if self._wait_for_change(max(0.0, min(left, STOP_SECONDS))):
                return True
            if left <= 0:
                return False
        return False

    @abstractmethod
    def _wait_for_change(self, seconds: float) -> bool:
        """As `wait`, but may return earlier."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection; the next `wait` opens a new one."""


class _Versions(Listener):
    """SQLite: the counter changes with every commit of another connection, in any process."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._engine = make_engine(settings.database_url, pooled=False)
        self._connection: Any = None
        self._version: int | None = None

    def _wait_for_change(self, seconds: float) -> bool:
        before = self._version
        try:
            if self._connection is None:
                self._connection = self._engine.raw_connection()
            with unforked():
                # Not through the engine, which would begin a transaction.
                (self._version,) = self._connection.driver_connection.execute("PRAGMA data_version").fetchone()
        except Exception as error:  # the driver's own errors, too
            log.debug("The change counter cannot be read: %s", error)
            self.close()
        if self._version is None or self._version != before:
            if self._version is None:
                self._rest(seconds)
            return True
        self._rest(seconds)
        return False

    def _rest(self, seconds: float) -> None:
        # Even a sleep of 0 s is a system call that gives way to other processes.
        if seconds > 0:
            time.sleep(min(seconds, self.every))

    def close(self) -> None:
        self._version = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class _Notifications(Listener):
    """PostgreSQL: a listening connection, reopened when it breaks."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._writer = make_engine(settings.database_url, pooled=False)
        self._engine = make_engine(settings.listen_url or settings.database_url, pooled=False)
        self._apart = settings.listen_url is not None
        self._connection: Connection | None = None
        self._next_try = 0.0
        self._connected_at = 0.0
        self._hearing = False
        """Whether any notification has arrived on this connection; the first one is our own."""
        self._complained = False

    def _wait_for_change(self, seconds: float) -> bool:
        if self._connection is None and time.monotonic() >= self._next_try:
            self._connect()
        if self._connection is None:
            time.sleep(min(seconds, self.every))
            return True
        driver: Any = self._connection.connection.driver_connection
        longest = seconds if self._hearing else min(seconds, self.every)
        try:
            notified = bool(list(driver.notifies(timeout=longest, stop_after=1)))
        except Exception as error:  # the driver's own errors: the engine knows nothing of them
            log.info("The listening connection broke and is reopened: %s", error)
            self.close()
            return True
        self._hearing |= notified
        if not self._hearing and time.monotonic() > self._connected_at + DEAF_SECONDS:
            self._warn("notifications of PostgreSQL do not arrive: a pooler such as PgBouncer may be in between")
        return notified or not self._hearing

    def _connect(self) -> None:
        self._next_try = time.monotonic() + RETRY_SECONDS
        try:
            connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            self._connection = connection
            connection.exec_driver_sql(f"LISTEN {CHANNEL}")
            with autocommit_reading(self._writer) as writer:
                writer.exec_driver_sql(f"NOTIFY {CHANNEL}")
        except DBAPIError as error:
            self.close()
            # Other components report an unreachable database.
            if self._apart:
                self._warn(f"STEELYARD_LISTEN_URL cannot be reached: {error.orig}")
            return
        self._connected_at = time.monotonic()

    def _warn(self, what: str) -> None:
        if not self._complained:
            log.warning(
                "Polling the database for changes every %g s: %s.  "
                "Set STEELYARD_LISTEN_URL to a direct connection to PostgreSQL.",
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
