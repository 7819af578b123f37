"""Waiting for evaluations and other work to end, while others do it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from models.database.changes import listen
from models.database.error_kinds import is_transient_server_error
from models.database.session import reading
from models.queue_status.progress import Progress, read_progress
from runtime.settings import Settings

log = logging.getLogger(__name__)

POLL_SECONDS = 0.1
"""Between two looks while there are changes."""
LOOK_SECONDS = 1.0
"""Between two looks while there are none: one may not have been heard."""
OUTAGE_SECONDS = 1.0


class State(Protocol):
    """How far some work has come."""

    @property
    def open(self) -> int:
        """Whether it will still change by itself."""


Watched = TypeVar("Watched", bound=State)
Result = TypeVar("Result")


class Outage:
    """A server that is away for a while: whoever waits for it waits on, and says so once."""

    def __init__(self) -> None:
        self._lasts = False

    @contextmanager
    def outlived(self) -> Iterator[None]:
        """Swallow the errors of a database server that is away, after a moment; all others are raised."""
        try:
            yield
        except DBAPIError as error:
            if not is_transient_server_error(error):
                raise
            if not self._lasts:
                log.warning("The database cannot be reached and is waited for: %s", error.orig)
            self._lasts = True
            time.sleep(OUTAGE_SECONDS)
        else:
            if self._lasts:
                log.warning("The database is back.")
            self._lasts = False


def with_retries(action: Callable[[], Result]) -> Result:
    """What an action gives that may be done twice: done again as long as a database server is away."""
    outage = Outage()
    while True:
        with outage.outlived():
            return action()


def read_with_retries(engine: Engine, read: Callable[[Connection], Result]) -> Result:
    """As `with_retries`, of what reads the database."""

    def action() -> Result:
        with reading(engine) as connection:
            return read(connection)

    return with_retries(action)


def wait_until_done(
    engine: Engine,
    settings: Settings,
    evaluations: Sequence[int],
    on_progress: Callable[[Progress], None] | None = None,
) -> Progress:
    """Wait until each of the evaluations is done, failed or cancelled; the last state of things.

    For the set-up with workers and a scheduler of their own. `on_progress` hears of every change. Outlives the
    database.
    """
    return wait_until(engine, settings, lambda connection: read_progress(connection, evaluations), on_progress)


def wait_until(
    engine: Engine,
    settings: Settings,
    read: Callable[[Connection], Watched],
    on_progress: Callable[[Watched], None] | None = None,
) -> Watched:
    """Wait until what is read is not open any more; the last state of things. Outlives the database."""
    watch = Watch(engine, read, on_progress, Outage())
    with listen(settings) as listener:
        while not watch.look():
            looked = time.monotonic()
            listener.wait(LOOK_SECONDS)
            # Many changes in a moment are one look.
            time.sleep(max(0.0, looked + POLL_SECONDS - time.monotonic()))
    return watch.last


class Watch(Generic[Watched]):
    """Looks how far things are, and tells of every change."""

    last: Watched
    """What was seen at the last look."""

    def __init__(
        self,
        engine: Engine,
        read: Callable[[Connection], Watched],
        on_progress: Callable[[Watched], None] | None,
        outage: Outage,
    ) -> None:
        self._engine = engine
        self._read = read
        self._on_progress = on_progress
        self._told: Watched | None = None
        self._outage = outage

    def look(self) -> bool:
        """Look once; whether things are at their end. False, after a moment, while the database is away."""
        with self._outage.outlived():
            with reading(self._engine) as connection:
                self.last = self._read(connection)
            if self.last != self._told and self._on_progress is not None:
                self._on_progress(self.last)
            self._told = self.last
            return not self.last.open
        return False
