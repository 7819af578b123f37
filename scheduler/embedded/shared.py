"""Commands that share a database: one works for all, the others wait for their results or for their turn."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from sqlalchemy import Connection, Engine

from models.database.session import make_engine
from runtime.settings import Settings
from scheduler.embedded.processes import Embedded
from scheduler.embedded.wait import POLL_SECONDS, Outage, Watch, Watched
from scheduler.errors import AlreadyRunning

if TYPE_CHECKING:
    from scheduler.nightly.runner import NightlyRunner

TAKEOVER_SECONDS = 0.5
"""Seconds between checks whether the working command has ended."""

log = logging.getLogger(__name__)


class SharedEmbedded:
    """As `Embedded`; but while another process works on this database, its workers do our work, too.

    When that process has ended, we start our own workers for the remaining work. `say` is called with messages for the
    user.
    """

    def __init__(
        self, settings: Settings, concurrency: int | None = None, say: Callable[[str], None] = log.warning
    ) -> None:
        self._embedded = Embedded(settings, concurrency, say, every_metric=False)
        self._engine: Engine | None = None
        self._settings = settings
        self._ours = False
        self._say = say

    @property
    def engine(self) -> Engine:
        """An engine of this process."""
        if self._engine is None:
            return self._embedded.engine
        return self._engine

    def __enter__(self) -> Self:
        if not self._begin():
            self._engine = make_engine(self._settings.database_url)
            self._say("Another command is working on this database and may do this work, too; waiting for it.")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if self._ours:
                self._embedded.__exit__(kind, error, traceback)
        finally:
            if self._engine is not None:
                self._engine.dispose()

    def run_until(
        self,
        read: Callable[[Connection], Watched],
        on_progress: Callable[[Watched], None] | None = None,
        nightly_runs: NightlyRunner | None = None,
    ) -> Watched:
        """As `Embedded.run_until`, by our own or another command's workers."""
        outage = Outage()
        watch = Watch(self.engine, read, on_progress, outage)
        tried = time.monotonic()
        while not self._ours:
            if watch.poll():
                return watch.last
            time.sleep(POLL_SECONDS)
            if time.monotonic() - tried >= TAKEOVER_SECONDS:
                with outage.tolerated():
                    self._begin()
                tried = time.monotonic()
        return self._embedded.run_until(read, on_progress, nightly_runs)

    def finish(self) -> None:
        """As `Embedded.finish`."""
        if self._ours:
            self._embedded.finish()

    def _begin(self) -> bool:
        """Start our workers, unless another process works; whether they are started."""
        if self._engine is not None:
            # Processes are forked now and must not inherit connections.
            self._engine.dispose()
        try:
            self._embedded.__enter__()
        except AlreadyRunning:
            return False
        self._ours = True
        return True
