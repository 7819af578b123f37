"""The heartbeat of a worker: one database row, updated every second by its main process."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from models.database.compatibility import SCHEMA_CHECK_SECONDS, read_schema_problem
from models.database.migrate import REVISION
from models.database.session import autocommit_writing, make_steady_engine, writing
from models.database.upsert import upsert
from models.queue.workers import beat, delete_worker, stop_claiming
from models.schema.queue import Worker
from runtime.health import Liveness
from worker.context import WorkerContext
from worker.tasks import MESSAGE_VERSION

log = logging.getLogger(__name__)


class Heartbeat:
    """Beats from `start` to `stop`; the row exists when `start` returns.

    `on_schema_problem` is called once, in the heartbeat's thread, if the tables become incompatible. `forks` is that of
    `make_steady_engine`. A worker with a `queue` of its own takes nothing that the scheduler sends.
    """

    def __init__(
        self,
        context: WorkerContext,
        concurrency: int,
        on_schema_problem: Callable[[str], object] = log.critical,
        *,
        forks: bool = True,
        queue: str = "",
        device: str | None = None,
    ) -> None:
        self.pulse = Liveness("beat")
        self._context = context
        self._concurrency = concurrency
        self._queue, self._device = queue, device
        self._on_schema_problem: Callable[[str], object] | None = on_schema_problem
        self._engine = make_steady_engine(context.settings.database_url, forks=forks)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def start(self) -> None:
        """Write the row, again if the database was briefly unavailable, and start the heartbeat."""

        def register() -> None:
            with writing(self._engine) as connection:
                self._register(connection)

        self._context.with_retries(register)
        self.pulse.done()
        self._thread.start()

    def stop(self) -> None:
        """Stop the heartbeat and delete the row."""
        self._stopped.set()
        self._thread.join()
        try:
            with writing(self._engine) as connection:
                delete_worker(connection, self._context.worker)
        except SQLAlchemyError as error:
            log.warning("The worker's row could not be deleted and will expire: %s", getattr(error, "orig", error))
        self._engine.dispose()

    def _run(self) -> None:
        checked = time.monotonic()
        while not self._stopped.wait(self._context.settings.beat_seconds):
            checks = time.monotonic() >= checked + SCHEMA_CHECK_SECONDS
            try:
                with autocommit_writing(self._engine) as connection:
                    if not beat(connection, self._context.worker):
                        self._register(connection)
                    problem = read_schema_problem(connection, REVISION) if checks else None
                self.pulse.done()
                self._notify(problem)
                if checks:
                    checked = time.monotonic()
            except SQLAlchemyError as error:
                self.pulse.failed(getattr(error, "orig", error))
                log.warning("The heartbeat could not be written: %s", getattr(error, "orig", error))

    def retire(self) -> None:
        """Keep beating but take no more work. Raises the database's own errors."""
        self._concurrency = 0
        with writing(self._engine) as connection:
            stop_claiming(connection, self._context.worker)

    def _notify(self, problem: str | None) -> None:
        if problem is not None and self._on_schema_problem is not None:
            self._on_schema_problem(problem)
            self._on_schema_problem = None

    def _register(self, connection: Connection) -> None:
        row = {
            "id": self._context.worker,
            "host": self._context.host,
            "pid": os.getpid(),
            "version": self._context.version,
            "concurrency": self._concurrency,
            "edition": self._context.edition,
            "revision": REVISION,
            "queue": self._queue,
            "device": self._device,
            "message_version": MESSAGE_VERSION,
        }
        upsert(connection, Worker, [row], [name for name in row if name != "id"] + ["beat_at"])
