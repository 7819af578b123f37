"""Shutdown of a worker: running tasks may finish for a while, everything else is released at once."""

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
from runtime.stop_request import ANSWER_SECONDS, end_in_time
from worker.context import WorkerContext
from worker.health_checks import taken
from worker.processes.heartbeat import Heartbeat

log = logging.getLogger(__name__)

LOUD = ("billiard", "celery.concurrency.asynpool", "celery.worker.request", "multiprocessing")
"""The logger that reports killed pool processes."""

GRACE_SECONDS = 5.0
"""Seconds that Celery may take to notice that its pool is gone."""

REMEMBERED = 1000
"""The number of rows of recently received messages to remember."""

TRIES = 5
"""Attempts to release tasks while the database is unavailable; after that, leases expire or the worker counts as
silent."""


def check_stopping() -> Check:
    """Whether Celery's worker in this process still handles messages."""
    return taken(state.should_stop is not None or state.should_terminate is not None)


def kill_pool() -> None:
    """Kill the processes of the pool of this worker."""
    for child in active_children():
        with suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGKILL)


_WARM, _COLD, _ENDED = b"w", b"c", b"e"


class Stopping:
    """Handles SIGTERM, SIGINT and SIGQUIT from `start` to `stop`, in the main process of a worker.

    After the first signal no work begins, received messages that were not handled are returned, and running tasks have
    `stop_seconds` to finish. After that, at a second signal or SIGQUIT, they are released with no attempt counted, and
    the pool is killed.
    """

    def __init__(self, context: WorkerContext, heartbeat: Heartbeat) -> None:
        self._context = context
        self._heartbeat = heartbeat
        self._received: deque[tuple[str, int]] = deque(maxlen=REMEMBERED)
        self._main = os.getpid()
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        self._engine: Engine = make_engine(context.settings.database_url, relaxed=True, pooled=False)
        self._thread = threading.Thread(target=self._run, name="stopping", daemon=True)
        self.exit_code: int | None = None
        """The exit code, if one was requested."""
        self.over = threading.Event()
        """To be set when the process has nothing more to wait for."""

    def start(self) -> None:
        """Install the handlers, as soon as Celery has installed its own."""
        signals.task_received.connect(self._remember, weak=False)
        signals.worker_ready.connect(self._listen, weak=False)
        self._thread.start()

    def stop(self) -> None:
        """After the worker has ended: release whatever is left."""
        self._notify(_ENDED)
        self._thread.join()
        signals.worker_ready.disconnect(self._listen)
        signals.task_received.disconnect(self._remember)
        self._release_all()
        self._engine.dispose()
        os.close(self._reader)
        os.close(self._writer)

    def end(self, reason: str) -> None:
        """Stop the worker, as by SIGTERM, with exit code 1; callable from any thread."""
        log.critical("This worker stops. %s", reason)
        self.exit_code = 1
        os.kill(self._main, signal.SIGTERM)

    def _remember(self, request: Any = None, **_: object) -> None:
        # Invalid messages are not recorded.
        with suppress(Exception):
            arguments, *_rest = request.message.payload
            self._received.extend((request.name, int(each)) for each in arguments)

    def _listen(self, **_: object) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        # A newly forked process briefly has the handlers of its parent.
        if os.getpid() == self._main:
            state.should_stop = state.should_stop or 0
            self._notify(_COLD if number == signal.SIGQUIT else _WARM)

    def _notify(self, what: bytes) -> None:
        # Writing to a pipe is all that a handler may safely do: another signal may interrupt it anywhere.
        with suppress(BlockingIOError):
            os.write(self._writer, what)

    def _run(self) -> None:
        received = os.read(self._reader, 1)
        if received == _ENDED:
            return
        longest = self._context.settings.stop_seconds + GRACE_SECONDS + ANSWER_SECONDS
        end_in_time(self.over, longest, code=self.exit_code or 0, before=kill_pool)
        self._context.shutting_down.set_once("this worker is shutting down")
        self._attempt("mark this worker as taking no more work", self._heartbeat.retire)
        self._attempt("return messages", self._return_messages)
        if received == _WARM:
            received = self._wait(self._context.settings.stop_seconds)
        if received == _ENDED:
            return
        handed = self._release_all()
        log.warning("Stopped before the work was done: %d tasks released", handed)
        # Dying processes are expected now.
        for name in LOUD:
            logging.getLogger(name).disabled = True
        kill_pool()
        if self._wait(GRACE_SECONDS, deaf=True) != _ENDED:
            # Everything that matters is in the database.
            self._attempt("delete this worker's row", self._heartbeat.stop)
            logging.shutdown()
            os._exit(self.exit_code or 0)

    def _wait(self, seconds: float, *, deaf: bool = False) -> bytes:
        """Wait for a message for up to this many seconds; empty if there is none. `deaf` ignores all but the end."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if select.select([self._reader], [], [], left)[0]:
                received = os.read(self._reader, 1)
                if received == _ENDED or not deaf:
                    return received
        return b""

    def _release_all(self) -> int:
        """Release all running tasks, and return messages that were not begun; the number of running tasks."""

        def give(connection: Connection) -> int:
            return sum(release_worker(connection, kind.table, self._context.worker) for kind in SENT)

        self._attempt("return messages", self._return_messages)
        handed = 0
        for attempt in range(TRIES):
            try:
                with writing(self._engine) as connection:
                    handed = give(connection)
                break
            except SQLAlchemyError as error:
                log.warning("Running tasks could not be released: %s", getattr(error, "orig", error))
                time.sleep(0.2 * attempt)
        return handed

    def _return_messages(self) -> None:
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
            log.warning("Failed to %s: %s", what, getattr(error, "orig", error))
