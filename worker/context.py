"""What a worker's processes have in common: settings, the worker's name, a way to the database."""

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

from metrics.base import EDITION
from models.database.error_kinds import classify_error, explain, is_transient
from models.database.session import make_engine, reading, writing
from runtime.release import release
from runtime.settings import Settings
from worker.counters import DATABASE_ERRORS, new_tally
from worker.shared_flag import Alarm

Result = TypeVar("Result")

log = logging.getLogger(__name__)

PATIENCE = (0.1, 0.3, 1.0, 3.0, 6.0, 10.0, 20.0, 20.0)
"""Seconds between the tries to reach a database that was just restarted: a minute in all, which a lease outlasts."""


class WorkerContext:
    """A place where tasks are done; it goes along into the processes that are forked from it."""

    def __init__(self, settings: Settings, processes: int | None = None) -> None:
        self.settings = settings
        self.processes = processes or settings.processes
        self.host = socket.gethostname()
        self.worker = f"{self.host}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self.alarm = Alarm()
        self.tally = new_tally(self.processes)
        self.leaving = Alarm()
        """Heard when the worker is about to end, and nothing new is to be begun."""
        self.version = release()
        self.edition = EDITION
        self._engine: tuple[int, Engine] | None = None

    @property
    def engine(self) -> Engine:
        """The engine of this very process: connections must not be shared across a fork."""
        if self._engine is None or self._engine[0] != os.getpid():
            self._engine = (os.getpid(), make_engine(self.settings.database_url, relaxed=True, binary=True))
        return self._engine[1]

    def close(self) -> None:
        """Give up the connections of this process."""
        if self._engine is not None and self._engine[0] == os.getpid():
            self._engine[1].dispose()
        self._engine = None

    def write(self, action: Callable[[Connection], Result], *, durable: bool = False) -> Result:
        """Do something in a writing transaction, and again if the database was away for a moment.

        Only for actions that may be done twice: a commit may have worked although its answer was lost. Raises what
        the database said last where it does not come back, and at once where waiting does not help (a full disk).
        """

        def attempt() -> Result:
            with writing(self.engine, durable=durable) as connection:
                return action(connection)

        return self.with_retries(attempt)

    def read(self, action: Callable[[Connection], Result]) -> Result:
        """As `write`, in a transaction that only reads."""

        def attempt() -> Result:
            with reading(self.engine) as connection:
                return action(connection)

        return self.with_retries(attempt)

    def with_retries(self, action: Callable[[], Result]) -> Result:
        """As `write`, with transactions that the action makes itself."""
        for wait in PATIENCE:
            try:
                return action()
            except DBAPIError as error:
                self.tally.count(DATABASE_ERRORS.name)
                if not is_transient(error):
                    raise
                log.warning("The database cannot be used, trying again in %s s: %s", wait, error.orig)
                time.sleep(wait)
        return action()

    @contextmanager
    def outlived(self, what: str) -> Iterator[None]:
        """End a task in order whose database has failed: nothing half is stored, and its lease will run out.

        What waiting does not help is told to the process that this one was forked from (`alarm`).
        """
        try:
            yield
        except DBAPIError as error:
            if classify_error(error) is None:
                raise
            if self.settings.embedded and not is_transient(error):
                self.alarm.raise_once(explain(error))
            else:
                log.error("%s is left to others, when its lease is over. %s", what, explain(error))
