"""The shared context of a worker's processes: settings, the worker's name, database access."""

from __future__ import annotations

import logging
import os
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from models.database.error_kinds import classify_error, explain, is_transient
from models.database.session import autocommit_reading, make_engine, reading, writing
from runtime.release import release
from runtime.settings import Settings
from steelyard.metrics.metric import EDITION
from worker.shared_flag import SharedFlag
from worker.shared_moment import SharedMoment
from worker.telemetry import DATABASE_ERRORS, new_counters

Result = TypeVar("Result")

log = logging.getLogger(__name__)

RETRY_DELAYS = (0.1, 0.3, 1.0, 3.0, 6.0, 10.0, 20.0, 20.0)
"""Seconds between attempts to reach a restarted database: one minute in total, less than a lease."""


class WorkerContext:
    """The context in which tasks run; forked processes inherit it."""

    def __init__(self, settings: Settings, processes: int | None = None) -> None:
        self.settings = settings
        self.processes = processes or settings.processes
        self.host = socket.gethostname()
        self.worker = f"{self.host}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self.alarm = SharedFlag()
        self.counters = new_counters(self.processes)
        self.shutting_down = SharedFlag()
        """Set when the worker is shutting down, and no new work may begin."""
        self.looked = SharedMoment()
        """When a process last found no more urgent work (`worker.preemption`)."""
        self.version = release()
        self.edition = EDITION
        self._engine: tuple[int, Engine] | None = None

    @property
    def engine(self) -> Engine:
        """The engine of this very process: connections must not be shared across a fork."""
        if self._engine is None or self._engine[0] != os.getpid():
            prepared = self.settings.prepares_statements
            engine = make_engine(self.settings.database_url, relaxed=True, binary=True, prepared=prepared, retried=True)
            self._engine = (os.getpid(), engine)
        return self._engine[1]

    def close(self) -> None:
        """Close the connections of this process."""
        if self._engine is not None and self._engine[0] == os.getpid():
            self._engine[1].dispose()
        self._engine = None

    def write(self, action: Callable[[Connection], Result], *, durable: bool = False, notify: bool = True) -> Result:
        """Run an idempotent action in a writing transaction, and again if the database was briefly unavailable.

        It must be idempotent, since a commit may have succeeded although its confirmation was lost. Raises the last
        database error if the database stays unavailable, and at once if retrying does not help (a full disk).
        """

        def attempt() -> Result:
            with writing(self.engine, durable=durable, notify=notify) as connection:
                return action(connection)

        return self.with_retries(attempt)

    def read(self, action: Callable[[Connection], Result], *, snapshot: bool = True) -> Result:
        """As `write`, in a read-only transaction.

        Without a `snapshot`, each statement reads for itself, which spares PostgreSQL the transaction: for what never
        changes once it is there.
        """

        def attempt() -> Result:
            with (reading if snapshot else autocommit_reading)(self.engine) as connection:
                return action(connection)

        return self.with_retries(attempt)

    def with_retries(self, action: Callable[[], Result]) -> Result:
        """As `write`, for an action that begins its own transactions."""
        for wait in RETRY_DELAYS:
            try:
                return action()
            except DBAPIError as error:
                self.counters.count(DATABASE_ERRORS.name)
                if not is_transient(error):
                    raise
                log.warning("The database cannot be used, trying again in %s s: %s", wait, error.orig)
                time.sleep(wait)
        return action()

    @contextmanager
    def suppress_database_errors(self, what: str) -> Iterator[None]:
        """A context that logs database errors and ends the task, whose lease then expires.

        Nothing is stored in part. Errors that retrying does not solve are reported to the parent process (`alarm`).
        """
        try:
            yield
        except DBAPIError as error:
            if classify_error(error) is None:
                raise
            if self.settings.embedded and not is_transient(error):
                self.alarm.set_once(explain(error))
            else:
                log.error("%s is abandoned until its lease expires. %s", what, explain(error))
