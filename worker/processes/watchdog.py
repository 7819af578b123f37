"""Ends a worker that no longer receives messages, so that its supervisor restarts it."""

from __future__ import annotations

import logging
import os
import threading
from typing import Any

from celery.worker import state
from sqlalchemy import Engine, select
from sqlalchemy.exc import SQLAlchemyError

from models.database.session import make_engine, reading
from models.queue.kinds.registry import SENT
from models.schema.states import LeaseState, QueueClass
from worker.context import WorkerContext
from worker.errors import BrokerAway
from worker.messaging.queues import count_messages
from worker.processes.shutdown import kill_pool

log = logging.getLogger(__name__)

LOOKS = 6
"""Consecutive checks before the watchdog acts."""


class Watchdog:
    """Watches from `start` to `stop`.

    A connection to the broker can die unnoticed. Then messages wait, as another connection can see, while an idle
    worker receives none of them.
    """

    def __init__(self, app: Any, context: WorkerContext) -> None:
        self._app = app
        self._context = context
        # As for the heartbeat: pool processes inherit no connection.
        self._engine: Engine = make_engine(context.settings.database_url, pooled=False)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)

    def start(self) -> None:
        """Start watching."""
        self._thread.start()

    def stop(self) -> None:
        """Stop watching."""
        self._stopped.set()
        # It may be waiting for a broker that does not respond.
        self._thread.join(1.0)
        self._engine.dispose()

    def _run(self) -> None:
        seconds = self._context.settings.deaf_seconds
        heard, looks = -1, 0
        while not self._stopped.wait(seconds / LOOKS):
            # Tasks that the pool has accepted, including those that found nothing to claim.
            before, heard = heard, sum(state.total_count.values())
            # Checks are counted rather than time: a machine may have been suspended.
            looks = looks + 1 if heard == before and self._is_stuck() else 0
            if looks >= LOOKS and not self._stopped.is_set():
                log.critical(
                    "Messages are waiting, but this idle worker has received none for %g s: it exits. "
                    "Its supervisor should restart it.",
                    seconds,
                )
                _end()

    def _is_stuck(self) -> bool:
        """Whether messages are waiting though this worker is idle; False if that cannot be determined."""
        try:
            return not self._holds_work() and any(count_messages(self._app, QueueClass).values())
        except (BrokerAway, SQLAlchemyError):
            return False

    def _holds_work(self) -> bool:
        with reading(self._engine) as connection:
            return any(
                connection.execute(
                    select(kind.table.id)
                    .where(kind.table.state == LeaseState.RUNNING, kind.table.worker == self._context.worker)
                    .limit(1)
                ).first()
                for kind in SENT
            )


def _end() -> None:
    """Kill this process and its pool: an orderly shutdown would wait for whatever hangs."""
    kill_pool()
    os._exit(1)
