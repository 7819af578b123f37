"""The heartbeat of a worker: one row in the database, touched every second by its main process."""

from __future__ import annotations

import logging
import os
import threading
from importlib.metadata import PackageNotFoundError, version

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from models.conflicts import insert_or_replace
from models.session import make_engine, writing
from models.worker import Worker, beat, forget
from worker.station import Station

log = logging.getLogger(__name__)


class Heartbeat:
    """Beats from `start` to `stop`; the row is there when `start` returns."""

    def __init__(self, station: Station, concurrency: int) -> None:
        self._station = station
        self._concurrency = concurrency
        # No connection outlives its beat, so that pool processes inherit none when they are forked.
        self._engine = make_engine(station.settings.database_url, relaxed=True, pooled=False)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def start(self) -> None:
        """Write the row and begin to beat."""
        with writing(self._engine) as connection:
            self._announce(connection)
        self._thread.start()

    def stop(self) -> None:
        """Stop beating and remove the row."""
        self._stopped.set()
        self._thread.join()
        try:
            with writing(self._engine) as connection:
                forget(connection, self._station.worker)
        except SQLAlchemyError as error:
            log.warning("The worker's row could not be removed; it will be when it is old: %s", error)
        self._engine.dispose()

    def _run(self) -> None:
        while not self._stopped.wait(self._station.settings.beat_seconds):
            try:
                with writing(self._engine) as connection:
                    if not beat(connection, self._station.worker):
                        self._announce(connection)
            except SQLAlchemyError as error:
                log.warning("The heartbeat could not be written: %s", error)

    def _announce(self, connection: Connection) -> None:
        row = {
            "id": self._station.worker,
            "host": self._station.host,
            "pid": os.getpid(),
            "version": release(),
            "concurrency": self._concurrency,
        }
        insert_or_replace(connection, Worker, [row], ["pid", "beat_at", "version", "concurrency"])


def release() -> str:
    """The version of the installed product."""
    try:
        return version("steelyard")
    except PackageNotFoundError:
        return "unknown"
