"""Everything in one command: scheduler and a pool of processes, with nothing to install.

Tasks and rows are those of a large installation. If the command dies, the rows tell the next one where to take up.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from models.database.changes import Listener, listen
from models.database.error_kinds import classify_error
from models.database.session import make_engine, writing
from models.queue.kinds.registry import SENT
from models.queue.lease import release_worker
from models.queue_status.progress import Progress, read_progress
from runtime.health import Check, Liveness
from runtime.http_server import ProcessStatus
from runtime.settings import Settings
from scheduler.embedded.pool import Pool
from scheduler.embedded.wait import Outage, Watch, Watched
from scheduler.errors import AlreadyRunning, StorageFailed
from scheduler.leader import Leadership
from scheduler.loop import SchedulerLoop, SchedulerStatus, scheduler_status
from scheduler.nightly.runner import NightlyRunner
from scheduler.recovery import reclaim_all
from worker.context import WorkerContext
from worker.health_checks import taken
from worker.preload import load_ahead
from worker.processes.heartbeat import Heartbeat
from worker.processes.telemetry import WorkerMetrics

log = logging.getLogger(__name__)

PROGRESS_SECONDS = 0.05
"""Between two looks at progress while it changes."""
LOOK_SECONDS = 1.0
"""Between two looks at progress when it does not."""
TEND_SECONDS = 0.1
"""Between two looks at what the database does not tell."""


class Embedded:
    """A context in which all that waits is worked on: `with Embedded(settings) as embedded: ...`.

    Enter it early, before much memory is used and other threads are started: pool processes are forked then. Raises
    AlreadyRunning when another process works on this database (and may be entered again later: `SharedEmbedded`).
    """

    def __init__(
        self, settings: Settings, concurrency: int | None = None, say: Callable[[str], None] = log.warning
    ) -> None:
        self._settings = settings.model_copy(update={"broker_url": "memory://localhost/"})
        self._processes = concurrency or settings.processes
        self._leadership = Leadership(settings.database_url, settings.silent_seconds)
        self._next_try = 0.0
        self._say = say
        self._signs = SchedulerStatus()
        self._beat = Liveness("beat")
        self._stopping = False
        self._hurried = threading.Event()
        self._station = WorkerContext(self._settings, self._processes)
        self._pool = Pool(self._station, self._processes)
        self._undo: list[Callable[[], object]] = []
        self._told: BaseException | None = None
        self._busy = False

    @property
    def engine(self) -> Engine:
        """The engine of this process."""
        return self._station.engine

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        waits = isinstance(error, (KeyboardInterrupt, SystemExit)) and self._pool.busy
        self._stop(
            f"Stopping: tasks that run may finish, for at most {self._settings.stop_seconds:g} s; "
            "Ctrl-C again stops them now. Nothing is lost."
            if waits
            else ""
        )

    @property
    def outlook(self) -> ProcessStatus:
        """What it shows of itself: all that a scheduler and a worker do."""
        scheduler = scheduler_status(
            self._settings, self._signs, lambda: Check("broker", True, "in the memory of this process")
        )
        return ProcessStatus(
            "up",
            live=(*scheduler.live, self._beat.turns),
            ready=(
                *scheduler.ready,
                lambda: self._beat.succeeds(self._settings.stale_seconds),
                lambda: taken(self._pool.ends),
            ),
            collectors=(*scheduler.collectors, WorkerMetrics(self._station)),
        )

    def run_until_done(
        self, evaluations: Sequence[int], on_progress: Callable[[Progress], None] | None = None
    ) -> Progress:
        """Work until each of the evaluations is done, failed or cancelled; the last state of things.

        `on_progress` hears of every change, in the long run at most 20 times a second, in the thread of the caller.
        """
        return self.run_until(lambda connection: read_progress(connection, evaluations), on_progress)

    def run_until(
        self,
        read: Callable[[Connection], Watched],
        on_progress: Callable[[Watched], None] | None = None,
        nights: NightlyRunner | None = None,
        tend: Callable[[], object] | None = None,
    ) -> Watched:
        """Work until what is read is not open any more; also on nights if told to; the last state of things.

        It is read when the database has changed, and each second; `tend` is called some ten times a second. Outlives a
        database server that goes away. Raises WorkerDidNotStart when the pool does not come up, StorageFailed where a
        task could not store what it computed (a full disk, for instance), and what the database says where this process
        itself finds out.
        """
        # What a command before has lost was put back when we started.
        rounds = SchedulerLoop(
            self.engine, self._pool, self._settings, nights, self._signs, leads=self._leadership.in_term, swept=True
        )
        outage = Outage()
        watch = Watch(self.engine, read, on_progress, outage)
        begun, looked = time.monotonic(), 0.0
        unseen = changed = True
        with listen(self._settings) as listener:
            while True:
                if self._told is not None:
                    # It came in the middle of a round, or was swallowed where it was raised.
                    raise self._told
                heard = self._station.alarm.heard
                if heard is not None:
                    raise StorageFailed(heard)
                if tend is not None:
                    tend()
                with self._uninterrupted():
                    with outage.outlived():
                        self._hand_out(rounds, changed=changed)
                    unseen |= changed
                    since = time.monotonic() - looked
                    if since >= LOOK_SECONDS or (unseen and since >= _rest(begun, PROGRESS_SECONDS)):
                        looked, unseen = time.monotonic(), False
                        if watch.look():
                            with outage.outlived():
                                rounds.look_back()
                            return watch.last
                    changed = self._work(listener, _rest(begun, self._settings.tick_seconds), unseen)

    def _work(self, listener: Listener, rest: float, unseen: bool) -> bool:
        """Let the pool work until the database has changed, which is looked at after each rest; whether it has."""
        until = time.monotonic() + (PROGRESS_SECONDS if unseen else TEND_SECONDS)
        while True:
            # Many changes in a moment are one round.
            self._pool.run(rest)
            if listener.wait(0.0):
                return True
            if self._told is not None or time.monotonic() >= until:
                return False

    @contextmanager
    def _uninterrupted(self) -> Iterator[None]:
        """A context that a first signal does not leave: a transaction or a process might be left behind half begun."""
        self._busy = True
        try:
            yield
        finally:
            self._busy = False

    def _hand_out(self, rounds: SchedulerLoop, *, changed: bool) -> None:
        """One round if one is due, unless our term is over and somebody else leads now."""
        try:
            leads = self._leadership.held()
            if not leads and time.monotonic() >= self._next_try:
                self._next_try = time.monotonic() + self._settings.sweep_seconds
                leads = self._leadership.acquire()
            self._signs.leading = leads
            if leads and (changed or not rounds.due_in()):
                rounds.go()
        except DBAPIError:
            rounds.rest()
            raise

    def finish(self) -> None:
        """Begin to stop the pool, since no more work will come.

        Leaving the context does it too, and waits for the pool; a command that still has something to write calls
        this before.
        """
        self._pool.finish()

    def _start(self) -> None:
        self._stopping, self._told = False, None
        if not self._leadership.acquire():
            raise AlreadyRunning
        self._undo.append(self._leadership.release)
        load_ahead(self._station)
        self._end_on_signals()
        # We lead, so whatever is in flight belongs to a command that is gone.
        self._put_back(lambda engine: reclaim_all(engine, self._settings, used=True), must=True)
        self._undo.append(self._hand_back)
        self._undo.append(self._station.close)
        self._undo.append(self._stop_pool)
        self._pool.start()
        heartbeat = Heartbeat(self._station, self._processes, self._station.alarm.raise_once)
        heartbeat.start()
        self._beat = heartbeat.pulse
        self._undo.append(heartbeat.stop)

    def _stop(self, word: str = "") -> None:
        self._stopping = True
        # Before anything is said: who reads it may interrupt at once.
        with self._hurried_by_interrupts():
            if word:
                self._say(word)
            while self._undo:
                self._undo.pop()()

    @contextmanager
    def _hurried_by_interrupts(self) -> Iterator[None]:
        """While we stop, another Ctrl-C means: at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, lambda *_: self._hurried.set())
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _hand_back(self) -> None:
        """Put back what is in flight, no attempt used: of all where we lead, else what our own processes ran."""
        leads = self._renew()

        def hand_back_all(engine: Engine) -> None:
            if leads:
                reclaim_all(engine, self._settings, used=False)
                return
            with writing(engine) as connection:
                for kind in SENT:
                    release_worker(connection, kind.table, self._station.worker)

        self._put_back(hand_back_all, must=False)

    def _put_back(self, action: Callable[[Engine], object], *, must: bool) -> None:
        engine = make_engine(self._settings.database_url, pooled=False)
        try:
            action(engine)
        except DBAPIError as error:
            if must or classify_error(error) is None:
                raise
            log.info("What was in flight could not be put back; the next command does it: %s", error.orig)
        finally:
            engine.dispose()

    def _renew(self) -> bool:
        """Keep the lead while we stop; whether it is ours."""
        try:
            return self._leadership.held() or self._leadership.acquire()
        except DBAPIError:
            return False

    def _stop_pool(self) -> None:
        self._pool.stop(self._settings.stop_seconds, self._hurried.is_set, self._renew)

    def _end_on_signals(self) -> None:
        """Make SIGTERM leave the context in order, as Ctrl-C does, and lose neither."""
        if threading.current_thread() is not threading.main_thread():
            return

        main = os.getpid()

        def end(number: int, _frame: FrameType | None) -> None:
            # A process that was forked just now has the handlers of its parent for a moment.
            if os.getpid() != main:
                return
            if self._stopping:
                self._hurried.set()
                return
            waits = self._busy and self._told is None
            # What is raised while something is collected, Python only reports.
            self._told = KeyboardInterrupt() if number == signal.SIGINT else SystemExit(128 + number)
            if not waits:
                raise self._told
            self._pool.wake()

        before = signal.signal(signal.SIGTERM, end)
        self._undo.append(lambda: signal.signal(signal.SIGTERM, before))
        # Who ignores Ctrl-C, or hears it otherwise, goes on to.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, end)
            self._undo.append(lambda: signal.signal(signal.SIGINT, signal.default_int_handler))


def _rest(begun: float, longest: float) -> float:
    """Seconds until the next look: at first few, since a small job is done before a longer one is over."""
    return min(longest, 0.005 + (time.monotonic() - begun) / 20)
