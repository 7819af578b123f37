"""The heartbeat of a worker: one row in the database, touched every second by its main process."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from models.database.compatibility import read_trouble
from models.database.migrate import REVISION
from models.database.session import make_engine, reading, writing
from models.database.upsert import insert_or_replace
from models.queue.workers import beat, forget, retire
from models.schema.queue import Worker
from runtime.health import Pulse
from worker.context import Station

log = logging.getLogger(__name__)


class Heartbeat:
    """Beats from `start` to `stop`; the row is there when `start` returns.

    `on_trouble` hears once, from the thread that beats, that the tables have become those of another release.
    """

    def __init__(self, station: Station, concurrency: int, on_trouble: Callable[[str], object] = log.critical) -> None:
        self.pulse = Pulse("beat")
        self._station = station
        self._concurrency = concurrency
        self._on_trouble: Callable[[str], object] | None = on_trouble
        # No connection outlives its beat, so that pool processes inherit none when they are forked.
        self._engine = make_engine(station.settings.database_url, relaxed=True, pooled=False)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def start(self) -> None:
        """Write the row and begin to beat."""
        with writing(self._engine) as connection:
            self._announce(connection)
        self.pulse.done()
        self._thread.start()

    def stop(self) -> None:
        """Stop beating and remove the row."""
        self._stopped.set()
        self._thread.join()
        try:
            with writing(self._engine) as connection:
                forget(connection, self._station.worker)
        except SQLAlchemyError as error:
            log.warning("The worker's row is left until it is old: %s", getattr(error, "orig", error))
        self._engine.dispose()

    def _run(self) -> None:
        while not self._stopped.wait(self._station.settings.beat_seconds):
            try:
                with writing(self._engine) as connection:
                    if not beat(connection, self._station.worker):
                        self._announce(connection)
                self.pulse.done()
                self._check()
            except SQLAlchemyError as error:
                self.pulse.failed(getattr(error, "orig", error))
                log.warning("The heartbeat could not be written: %s", getattr(error, "orig", error))

    def retire(self) -> None:
        """Go on beating, and take no part in the work any more. Raises what the database says."""
        self._concurrency = 0
        with writing(self._engine) as connection:
            retire(connection, self._station.worker)

    def _check(self) -> None:
        if self._on_trouble is None:
            return
        with reading(self._engine) as connection:
            trouble = read_trouble(connection, REVISION)
        if trouble is not None:
            self._on_trouble(trouble)
            self._on_trouble = None

    def _announce(self, connection: Connection) -> None:
        row = {
            "id": self._station.worker,
            "host": self._station.host,
            "pid": os.getpid(),
            "version": self._station.version,
            "concurrency": self._concurrency,
            "edition": self._station.edition,
            "revision": REVISION,
        }
        insert_or_replace(connection, Worker, [row], [name for name in row if name != "id"] + ["beat_at"])
