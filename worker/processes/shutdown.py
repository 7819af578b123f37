"""The end of a worker: what runs may finish for a while, everything else goes back at once, and nobody need wait."""

from __future__ import annotations

import logging
import os
import select
import signal
import threading
import time
from collections import deque
from contextlib import suppress
from types import FrameType
from typing import Any

from billiard import active_children
from celery import signals
from celery.worker import state
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from models.database.session import make_engine, writing
from models.queue.kinds.registry import BY_MESSAGE, SENT
from models.queue.lease import release_worker, unsend
from runtime.health import Check
from worker.context import WorkerContext
from worker.health_checks import taken
from worker.processes.heartbeat import Heartbeat

log = logging.getLogger(__name__)

LOUD = ("billiard", "celery.concurrency.asynpool", "celery.worker.request", "multiprocessing")
"""Who complains when pool processes are killed."""

GRACE_SECONDS = 5.0
"""How long Celery may take to notice that its pool is gone."""

REMEMBERED = 1000
"""Messages, the last ones, of which it is known that they came here."""

TRIES = 5
"""So often a database that is away is asked to take work back; else its lease or this worker's silence tells."""


def check_stopping() -> Check:
    """Whether Celery's worker in this process still takes messages."""
    return taken(state.should_stop is not None or state.should_terminate is not None)


_WARM, _COLD, _ENDED = b"w", b"c", b"e"


class Stopping:
    """Listens to SIGTERM, SIGINT and SIGQUIT from `start` to `stop`, in the main process of a worker.

    After the first signal no work is begun, messages that came here and were not acted on are given up, and what runs
    has `stop_seconds` to finish. After that, at a second signal or SIGQUIT it is handed back, with no attempt used, and
    the pool is killed.
    """

    def __init__(self, context: WorkerContext, heartbeat: Heartbeat) -> None:
        self._station = context
        self._heartbeat = heartbeat
        self._received: deque[tuple[str, int]] = deque(maxlen=REMEMBERED)
        self._main = os.getpid()
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        self._engine: Engine = make_engine(context.settings.database_url, relaxed=True, pooled=False)
        self._thread = threading.Thread(target=self._run, name="stopping", daemon=True)
        self.exit_code: int | None = None
        """What the worker ends with, where it was told so."""

    def start(self) -> None:
        """Begin to listen, as soon as Celery does."""
        signals.task_received.connect(self._note, weak=False)
        signals.worker_ready.connect(self._listen, weak=False)
        self._thread.start()

    def stop(self) -> None:
        """The worker has ended: hand back whatever is left."""
        self._tell(_ENDED)
        self._thread.join()
        signals.worker_ready.disconnect(self._listen)
        signals.task_received.disconnect(self._note)
        self._give_back()
        self._engine.dispose()
        os.close(self._reader)
        os.close(self._writer)

    def end(self, reason: str) -> None:
        """Stop the worker, as by SIGTERM, with exit code 1; from any thread."""
        log.critical("This worker stops. %s", reason)
        self.exit_code = 1
        os.kill(self._main, signal.SIGTERM)

    def _note(self, request: Any = None, **_: object) -> None:
        # Of a message that is no hint nothing need be known.
        with suppress(Exception):
            arguments, *_rest = request.message.payload
            self._received.append((request.name, int(arguments[0])))

    def _listen(self, **_: object) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        # A process that was forked just now has the handlers of its parent for a moment.
        if os.getpid() == self._main:
            state.should_stop = state.should_stop or 0
            self._tell(_COLD if number == signal.SIGQUIT else _WARM)

    def _tell(self, what: bytes) -> None:
        # Writing to a pipe is all that a handler may safely do: another signal may interrupt it anywhere.
        with suppress(BlockingIOError):
            os.write(self._writer, what)

    def _run(self) -> None:
        heard = os.read(self._reader, 1)
        if heard == _ENDED:
            return
        self._station.leaving.raise_once("this worker stops")
        self._attempt("say that this worker takes no more work", self._heartbeat.retire)
        self._attempt("give up messages", self._withdraw)
        if heard == _WARM:
            heard = self._wait(self._station.settings.stop_seconds)
        if heard == _ENDED:
            return
        handed = self._give_back()
        log.warning("Stopped before the work was done: %d handed back", handed)
        # That processes die now is no news.
        for name in LOUD:
            logging.getLogger(name).disabled = True
        for child in active_children():
            with suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGKILL)
        if self._wait(GRACE_SECONDS, deaf=True) != _ENDED:
            # All that matters is in the database.
            self._attempt("remove this worker's row", self._heartbeat.stop)
            logging.shutdown()
            os._exit(self.exit_code or 0)

    def _wait(self, seconds: float, *, deaf: bool = False) -> bytes:
        """What is heard within so many seconds, nothing if nothing is; `deaf` hears only the end."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if select.select([self._reader], [], [], left)[0]:
                heard = os.read(self._reader, 1)
                if heard == _ENDED or not deaf:
                    return heard
        return b""

    def _give_back(self) -> int:
        """Put back all that this worker runs, and what it was told of and has not begun; how many ran."""

        def give(connection: Connection) -> int:
            return sum(release_worker(connection, kind.table, self._station.worker) for kind in SENT)

        self._attempt("give up messages", self._withdraw)
        handed = 0
        for attempt in range(TRIES):
            try:
                with writing(self._engine) as connection:
                    handed = give(connection)
                break
            except SQLAlchemyError as error:
                log.warning("What runs here could not be handed back: %s", getattr(error, "orig", error))
                time.sleep(0.2 * attempt)
        return handed

    def _withdraw(self) -> None:
        keys: dict[str, list[int]] = {}
        for name, key in list(self._received):
            keys.setdefault(name, []).append(key)
        if not keys:
            return
        with writing(self._engine) as connection:
            for name, its in keys.items():
                if name in BY_MESSAGE:
                    unsend(connection, BY_MESSAGE[name].table, its)

    def _attempt(self, what: str, action: Any) -> None:
        try:
            action()
        except SQLAlchemyError as error:
            log.warning("It was not possible to %s: %s", what, getattr(error, "orig", error))
