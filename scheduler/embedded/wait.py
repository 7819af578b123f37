"""Waits for evaluations and other work that other processes do."""

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
"""Seconds between two checks while there are changes."""
LOOK_SECONDS = 1.0
"""Seconds between two checks otherwise: a notification may have been lost."""
OUTAGE_SECONDS = 1.0


class State(Protocol):
    """The progress of some work."""

    @property
    def open(self) -> int:
        """A number or flag that is 0 once it can no longer change."""


Watched = TypeVar("Watched", bound=State)
Result = TypeVar("Result")


class Outage:
    """Tolerates an unavailable database server, and reports the outage once."""

    def __init__(self) -> None:
        self._lasts = False

    @contextmanager
    def tolerated(self) -> Iterator[None]:
        """A context that swallows errors of an unavailable database server, after a pause; all others are raised."""
        try:
            yield
        except DBAPIError as error:
            if not is_transient_server_error(error):
                raise
            if not self._lasts:
                log.warning("The database cannot be reached, waiting for it: %s", error.orig)
            self._lasts = True
            time.sleep(OUTAGE_SECONDS)
        else:
            if self._lasts:
                log.warning("The database is available again.")
            self._lasts = False


def with_retries(action: Callable[[], Result]) -> Result:
    """The result of an idempotent action, repeated while the database server is unavailable."""
    outage = Outage()
    while True:
        with outage.tolerated():
            return action()


def read_with_retries(engine: Engine, read: Callable[[Connection], Result]) -> Result:
    """As `with_retries`, for an action that reads the database."""

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
    """Wait until each of the evaluations has ended; the final progress.

    For installations with separate workers and scheduler. `on_progress` is called with every change. Outages of the
    database are tolerated.
    """
    return wait_until(engine, settings, lambda connection: read_progress(connection, evaluations), on_progress)


def wait_until(
    engine: Engine,
    settings: Settings,
    read: Callable[[Connection], Watched],
    on_progress: Callable[[Watched], None] | None = None,
) -> Watched:
    """Wait until what `read` returns is no longer open; its final state. Outages of the database are tolerated."""
    watch = Watch(engine, read, on_progress, Outage())
    with listen(settings) as listener:
        while not watch.poll():
            looked = time.monotonic()
            listener.wait(LOOK_SECONDS)
            # Handle a burst of changes in one check.
            time.sleep(max(0.0, looked + POLL_SECONDS - time.monotonic()))
    return watch.last


class Watch(Generic[Watched]):
    """Polls the progress of work, and reports every change."""

    last: Watched
    """The state at the last poll."""

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

    def poll(self) -> bool:
        """Poll once; whether the work has ended. False, after a pause, while the database is unavailable."""
        with self._outage.tolerated():
            with reading(self._engine) as connection:
                self.last = self._read(connection)
            if self.last != self._told and self._on_progress is not None:
                self._on_progress(self.last)
            self._told = self.last
            return not self.last.open
        return False
