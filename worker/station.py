"""What a worker's processes have in common: settings, the worker's name, a way to the database."""

from __future__ import annotations

import logging
import os
import socket
import time
import uuid
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import InterfaceError, OperationalError

from models.session import make_engine, writing
from worker.settings import Settings

Result = TypeVar("Result")

log = logging.getLogger(__name__)

PATIENCE = (0.1, 0.3, 1.0, 3.0, 6.0, 10.0, 20.0, 20.0)
"""Seconds between the tries to reach a database that was just restarted."""


class Station:
    """A place where tasks are done; it goes along into the processes that are forked from it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.host = socket.gethostname()
        self.worker = f"{self.host}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._engine: tuple[int, Engine] | None = None

    @property
    def engine(self) -> Engine:
        """The engine of this very process: connections must not be shared across a fork."""
        if self._engine is None or self._engine[0] != os.getpid():
            self._engine = (os.getpid(), make_engine(self.settings.database_url, relaxed=True))
        return self._engine[1]

    def close(self) -> None:
        """Give up the connections of this process."""
        if self._engine is not None and self._engine[0] == os.getpid():
            self._engine[1].dispose()
        self._engine = None

    def write(self, action: Callable[[Connection], Result], *, durable: bool = False) -> Result:
        """Do something in a writing transaction, and again if the database was away for a moment.

        Only for actions that may be done twice: a commit may have worked although its answer was lost.
        """
        for wait in PATIENCE:
            try:
                with writing(self.engine, durable=durable) as connection:
                    return action(connection)
            except (OperationalError, InterfaceError) as error:
                log.warning("The database cannot be written, trying again in %s s: %s", wait, error.orig)
                time.sleep(wait)
        with writing(self.engine, durable=durable) as connection:
            return action(connection)
