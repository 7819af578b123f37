"""Scheduler and process pool in one command, with nothing to install.

Tasks and rows are those of a large installation. If the command dies, the next one continues from the rows.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Self

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from models.database.changes import Listener, listen
from models.database.error_kinds import classify_error
from models.database.session import make_engine, writing
from models.queue.kinds.registry import SENT
from models.queue.lease import release_worker
from runtime.health import Check, Liveness, ProcessStatus
from runtime.settings import Settings
from scheduler.embedded.learned import LearnedProcess
from scheduler.embedded.pool import Pool
from scheduler.embedded.wait import Outage, Watch, Watched
from scheduler.errors import AlreadyRunning, StorageFailed
from scheduler.leader import Leadership
from scheduler.loop import SchedulerLoop, SchedulerStatus, scheduler_status
from scheduler.recovery import reclaim_all
from worker.context import WorkerContext
from worker.health_checks import taken
from worker.preload import preload
from worker.processes.heartbeat import Heartbeat
from worker.telemetry import WorkerMetrics

if TYPE_CHECKING:
    from scheduler.nightly.runner import NightlyRunner

log = logging.getLogger(__name__)

PROGRESS_SECONDS = 0.05
"""Seconds between two progress reports while something changes."""
LOOK_SECONDS = 1.0
"""Seconds between two progress reports otherwise."""
POLL_INTERVAL = 0.1
"""Seconds between polls of conditions outside the database."""
IDLE_POLL_INTERVAL = 0.25
"""The same while there is no work."""
IDLE_TICK_SECONDS = 0.05
"""Seconds between two checks for changes while there is no work."""


class Embedded:
    """A context in which all waiting work is done: `with Embedded(settings) as embedded: ...`.

    Enter it early, before much memory is used and other threads are started: pool processes are forked then. Raises
    AlreadyRunning if another process leads this database (it can be entered again later: `SharedEmbedded`).
    `every_metric` is that of `preload`.
    """

    def __init__(
        self,
        settings: Settings,
        concurrency: int | None = None,
        say: Callable[[str], None] = log.warning,
        *,
        every_metric: bool = True,
    ) -> None:
        self._settings = settings.model_copy(update={"broker_url": "memory://localhost/"})
        self._processes = concurrency or settings.processes
        self._leadership = Leadership(settings.database_url, settings.silent_seconds)
        self._next_try = 0.0
        self._say = say
        self._every_metric = every_metric
        self._status = SchedulerStatus()
        self._beat = Liveness("beat")
        self._stopping = False
        self._hurried = False
        self._context = WorkerContext(self._settings, self._processes)
        self._pool = Pool(self._context, self._processes)
        self._learned = LearnedProcess(self._settings)
        self._undo: list[Callable[[], object]] = []
        self._told: BaseException | None = None
        self._busy = False

    @property
    def engine(self) -> Engine:
        """The engine of this process."""
        return self._context.engine

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
            f"Stopping: running tasks may finish, for at most {self._settings.stop_seconds:g} s; "
            "Ctrl-C again stops them now. Nothing is lost."
            if waits
            else ""
        )

    @property
    def status(self) -> ProcessStatus:
        """The status of this process: that of a scheduler and a worker."""
        scheduler = scheduler_status(
            self._settings, self._status, lambda: Check("broker", True, "in the memory of this process")
        )
        return ProcessStatus(
            "up",
            live=(*scheduler.live, self._beat.alive),
            ready=(
                *scheduler.ready,
                lambda: self._beat.succeeds(self._settings.stale_seconds),
                lambda: taken(self._pool.ends),
            ),
            collectors=(*scheduler.collectors, WorkerMetrics(self._context.counters)),
        )

    def run_until(
        self,
        read: Callable[[Connection], Watched],
        on_progress: Callable[[Watched], None] | None = None,
        nightly_runs: NightlyRunner | None = None,
        poll: Callable[[], object] | None = None,
    ) -> Watched:
        """Work until what `read` returns is no longer open, and on nightly runs if given; the final state.

        It is read when the database has changed, and every second; `poll` is called about ten times a second. Outages
        of a database server are tolerated.

        Raises
        ------
        WorkerDidNotStart
            If the pool does not start.
        StorageFailed
            If a task could not store its result (on a full disk, for instance).
        DBAPIError
            If the database fails in this process.
        """
        # Work lost by an earlier command was recovered at the start.
        loop = SchedulerLoop(
            self.engine,
            self._pool,
            self._settings,
            nightly_runs,
            self._status,
            leads=self._leadership.in_term,
            swept=True,
        )
        outage = Outage()
        watch = Watch(self.engine, read, on_progress, outage)
        begun, looked = time.monotonic(), 0.0
        unseen = changed = True
        with listen(self._settings) as listener:
            while True:
                if self._told is not None:
                    # The signal arrived during a round, or was swallowed where it was raised.
                    raise self._told
                failure = self._context.alarm.message
                if failure is not None:
                    raise StorageFailed(failure)
                if poll is not None:
                    poll()
                with self._uninterrupted():
                    with outage.tolerated():
                        self._send_work(loop, changed=changed)
                    # Whoever is told of progress may take a while: the processes work meanwhile.
                    self._pool.hand_out()
                    unseen |= changed
                    since = time.monotonic() - looked
                    if since >= LOOK_SECONDS or (unseen and since >= _rest(begun, PROGRESS_SECONDS)):
                        looked, unseen = time.monotonic(), False
                        if watch.poll():
                            with outage.tolerated():
                                loop.settle_completed()
                            return watch.last
                    tick = self._settings.tick_seconds
                    longest, poll_interval = tick, POLL_INTERVAL
                    # A task's last word may arrive after its result.
                    if loop.idle and not self._pool.busy:
                        longest, poll_interval = max(tick, IDLE_TICK_SECONDS), IDLE_POLL_INTERVAL
                    changed = self._work(listener, _rest(begun, longest), PROGRESS_SECONDS if unseen else poll_interval)

    def _work(self, listener: Listener, rest: float, seconds: float) -> bool:
        """Let the pool work until the database has changed, for at most `seconds`; whether it has.

        That is checked whenever the pool has paused for `rest` seconds.
        """
        until = time.monotonic() + seconds
        while True:
            # Handle a burst of changes in one round.
            self._pool.run(rest)
            if listener.wait(0.0):
                return True
            if self._told is not None or time.monotonic() >= until:
                return False

    @contextmanager
    def _uninterrupted(self) -> Iterator[None]:
        """A context that a first signal does not interrupt: it might leave a transaction or a process half begun."""
        self._busy = True
        try:
            yield
        finally:
            self._busy = False

    def _send_work(self, loop: SchedulerLoop, *, changed: bool) -> None:
        """Run a round if one is due, unless our term has expired and another scheduler leads."""
        try:
            leads = self._leadership.held()
            if not leads and time.monotonic() >= self._next_try:
                self._next_try = time.monotonic() + self._settings.sweep_seconds
                leads = self._leadership.acquire()
            self._status.leading = leads
            if leads and (changed or not loop.due_in()):
                loop.run_once()
                if not loop.idle:
                    self._learned.look(self.engine)
        except DBAPIError:
            loop.pause_recovery()
            raise

    def finish(self) -> None:
        """Begin to stop the pool, since there will be no more work.

        Leaving the context does so as well, and waits for the pool; a command that still has something to write calls
        this first.
        """
        self._pool.finish()

    def _start(self) -> None:
        self._stopping, self._told = False, None
        if not self._leadership.acquire():
            raise AlreadyRunning
        self._undo.append(self._leadership.release)
        preload(self._context, every_metric=self._every_metric)
        self._end_on_signals()
        # We lead, so anything in flight belongs to a command that is gone.
        self._return_to_pending(lambda engine: reclaim_all(engine, self._settings, used=True), must=True)
        self._undo.append(self._release_all)
        self._undo.append(self._context.close)
        self._undo.append(self._stop_pool)
        self._undo.append(self._learned.stop)
        self._pool.start()
        # Processes that replace others are forked beside the loop's own connections, too.
        self._leadership.keep_connection()
        heartbeat = Heartbeat(self._context, self._processes, self._context.alarm.set_once, forks=False)
        heartbeat.start()
        self._beat = heartbeat.pulse
        self._undo.append(heartbeat.stop)

    def _stop(self, word: str = "") -> None:
        self._stopping = True
        # Before anything is printed: the reader may interrupt at once.
        with self._hurried_by_interrupts():
            if word:
                self._say(word)
            while self._undo:
                self._undo.pop()()

    @contextmanager
    def _hurried_by_interrupts(self) -> Iterator[None]:
        """While stopping, treat another Ctrl-C as a request to stop at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, lambda *_: self._hurry())
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _hurry(self) -> None:
        self._hurried = True

    def _release_all(self) -> None:
        """Return work in flight to pending, with no attempt counted: all of it if we lead, else our own processes'."""
        leads = self._renew()

        def hand_back_all(engine: Engine) -> None:
            if leads:
                reclaim_all(engine, self._settings, used=False)
                return
            with writing(engine) as connection:
                for kind in SENT:
                    release_worker(connection, kind.table, self._context.worker)

        self._return_to_pending(hand_back_all, must=False)

    def _return_to_pending(self, action: Callable[[Engine], object], *, must: bool) -> None:
        engine = make_engine(self._settings.database_url, pooled=False)
        try:
            action(engine)
        except DBAPIError as error:
            if must or classify_error(error) is None:
                raise
            log.info("Work in flight could not be released; the next command recovers it: %s", error.orig)
        finally:
            engine.dispose()

    def _renew(self) -> bool:
        """Keep leading while we stop; whether we still lead."""
        try:
            return self._leadership.held() or self._leadership.acquire()
        except DBAPIError:
            return False

    def _stop_pool(self) -> None:
        self._pool.stop(self._settings.stop_seconds, lambda: self._hurried, self._renew)

    def _end_on_signals(self) -> None:
        """Make SIGTERM leave the context in order, as Ctrl-C does, and lose neither."""
        if threading.current_thread() is not threading.main_thread():
            return

        main = os.getpid()

        def end(number: int, _frame: FrameType | None) -> None:
            # A newly forked process briefly has the handlers of its parent.
            if os.getpid() != main:
                return
            if self._stopping:
                self._hurry()
                return
            waits = self._busy and self._told is None
            # Python only reports exceptions raised during garbage collection.
            self._told = KeyboardInterrupt() if number == signal.SIGINT else SystemExit(128 + number)
            if not waits:
                raise self._told
            self._pool.wake()

        before = signal.signal(signal.SIGTERM, end)
        self._undo.append(lambda: signal.signal(signal.SIGTERM, before))
        # A handler that ignores Ctrl-C, or handles it otherwise, stays.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, end)
            self._undo.append(lambda: signal.signal(signal.SIGINT, signal.default_int_handler))


def _rest(begun: float, longest: float) -> float:
    """Seconds until the next check: short at first, since small jobs end soon."""
    return min(longest, 0.005 + (time.monotonic() - begun) / 20)
