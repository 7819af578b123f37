"""Ends a worker that does not hear its messages any more, so that whoever watches over it starts it anew."""

from __future__ import annotations

import logging
import os
import signal
import threading
from contextlib import suppress
from typing import Any

from billiard import active_children
from celery.worker import state
from sqlalchemy import Engine, select
from sqlalchemy.exc import SQLAlchemyError

from models.database.session import make_engine, reading
from models.queue.kinds.registry import SENT
from models.schema.states import LeaseState, QueueClass
from worker.context import WorkerContext
from worker.errors import BrokerAway
from worker.messaging.queues import count_messages

log = logging.getLogger(__name__)

LOOKS = 6
"""So many times it looks before it believes what it sees."""


class Watchdog:
    """Watches from `start` to `stop`.

    A connection to the broker can be dead without anybody noticing. Then messages wait, which another connection can
    see, and a worker that holds no work takes none of them.
    """

    def __init__(self, app: Any, context: WorkerContext) -> None:
        self._app = app
        self._station = context
        # As for the heartbeat: pool processes inherit no connection.
        self._engine: Engine = make_engine(context.settings.database_url, pooled=False)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def stop(self) -> None:
        """Stop watching."""
        self._stopped.set()
        # It may be asking a broker that does not answer.
        self._thread.join(1.0)
        self._engine.dispose()

    def _run(self) -> None:
        seconds = self._station.settings.deaf_seconds
        heard, looks = -1, 0
        while not self._stopped.wait(seconds / LOOKS):
            # Tasks that the pool has accepted, also those that found nothing to claim.
            before, heard = heard, sum(state.total_count.values())
            # Looks are counted, not the time: a machine may have slept.
            looks = looks + 1 if heard == before and self._deaf() else 0
            if looks >= LOOKS and not self._stopped.is_set():
                log.critical(
                    "Messages wait, but this worker has taken none for %g s and holds no work: it ends. "
                    "Let a supervisor start it anew.",
                    seconds,
                )
                _end()

    def _deaf(self) -> bool:
        """Whether messages wait though this worker has nothing to do; no where that cannot be known."""
        try:
            return not self._holds_work() and any(count_messages(self._app, QueueClass).values())
        except (BrokerAway, SQLAlchemyError):
            return False

    def _holds_work(self) -> bool:
        with reading(self._engine) as connection:
            return any(
                connection.execute(
                    select(kind.table.id)
                    .where(kind.table.state == LeaseState.RUNNING, kind.table.worker == self._station.worker)
                    .limit(1)
                ).first()
                for kind in SENT
            )


def _end() -> None:
    """End this process and its pool at once: an orderly end would wait for what hangs."""
    for child in active_children():
        with suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGKILL)
    os._exit(1)
