"""Everything in one command: scheduler, message broker and a pool of processes, with nothing to install.

Celery's own worker runs in a thread, with its prefork pool and the broker that lives in memory.
Tasks and rows are those of a large installation. If the command dies, the rows tell the next one
where to take up.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from types import FrameType, TracebackType
from typing import Any, Self

import celery.worker.state
from celery import signals
from celery.worker import WorkController
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from models.database.error_kinds import trouble_of
from models.database.session import make_engine, writing
from models.queue.kinds import RELEASES
from models.queue.lease import hand_back
from models.queue_status.progress import Progress, read_progress
from runtime.health import Pulse
from runtime.http_server import Outlook
from runtime.settings import Settings
from scheduler.embedded.pool import EmbeddedPool
from scheduler.embedded.wait import Outage, Watch, Watched
from scheduler.errors import AlreadyRunning, StorageFailed, WorkerDidNotStart
from scheduler.leader import Leadership
from scheduler.loop import Rounds, Signs, scheduler_outlook
from scheduler.nightly.runner import Nights
from scheduler.recovery import reclaim_all
from worker.app import QUEUES, load_ahead, make_app, worker_outlook
from worker.context import Station
from worker.memory_limit import limit_processes
from worker.processes.dead_processes import watch_losses
from worker.processes.heartbeat import Heartbeat
from worker.processes.telemetry import tallying
from worker.tasks import WAKE

log = logging.getLogger(__name__)

PROGRESS_SECONDS = 0.05
START_SECONDS = 30.0
WAKE_SECONDS = 0.05
LOUD = ("celery.worker.request", "multiprocessing")
"""Who complains when pool processes are killed."""


class Embedded:
    """A context in which all that waits is worked on: `with Embedded(settings) as embedded: ...`.

    Enter it early, before much memory is used and other threads are started: pool processes are
    forked then. Once for each object, and one at a time in a process. Raises AlreadyRunning when
    another process works on this database (and may be entered again later: `EmbeddedTurn`), WorkerDidNotStart when the
    pool does not come up.
    """

    def __init__(
        self, settings: Settings, concurrency: int | None = None, say: Callable[[str], None] = log.warning
    ) -> None:
        self._settings = settings.model_copy(update={"broker_url": "memory://localhost/"})
        self._processes = concurrency or settings.processes
        self._leadership = Leadership(settings.database_url, settings.silent_seconds)
        self._next_try = 0.0
        self._say = say
        self._signs = Signs()
        self._beat = Pulse("beat")
        self._stopping = False
        self._hurried = threading.Event()
        self._station = Station(self._settings, self._processes)
        self._app = make_app(self._settings, self._station)
        self._undo: list[Callable[[], object]] = []
        self._controller: Any = None
        self._thread: threading.Thread | None = None
        self._ending: threading.Thread | None = None
        self._told: BaseException | None = None

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
        # Reserved: of a task that runs already Celery may still have to hear that it was accepted.
        waits = isinstance(error, (KeyboardInterrupt, SystemExit)) and celery.worker.state.reserved_requests
        self._stop(
            f"Stopping: tasks that run may finish, for at most {self._settings.stop_seconds:g} s; "
            "Ctrl-C again stops them now. Nothing is lost."
            if waits
            else ""
        )

    @property
    def outlook(self) -> Outlook:
        """What it shows of itself: all that a scheduler and a worker do."""
        scheduler = scheduler_outlook(self._settings, self._app, self._signs)
        worker = worker_outlook(self._settings, self._app, self._station, self._beat)
        return Outlook(
            "up",
            live=(*scheduler.live, *worker.live),
            # Database and broker are asked once.
            ready=(*scheduler.ready, *worker.ready[2:]),
            collectors=(*scheduler.collectors, *worker.collectors),
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
        nights: Nights | None = None,
    ) -> Watched:
        """Work until what is read is not open any more; also on nights if told to; the last state of things.

        Outlives a database server that goes away. Raises StorageFailed where a task could not store what it computed
        (a full disk, for instance), and what the database says where this process itself finds out.
        """
        # What a command before has lost was put back when we started.
        rounds = Rounds(
            self.engine, self._app, self._settings, nights, self._signs, leads=self._leadership.in_term, swept=True
        )
        outage = Outage()
        watch = Watch(self.engine, read, on_progress, outage)
        begun, looked = time.monotonic(), 0.0
        while True:
            if self._told is not None:
                # It was swallowed where it was raised.
                raise self._told
            heard = self._station.alarm.heard
            if heard is not None:
                raise StorageFailed(heard)
            with outage.outlived():
                self._hand_out(rounds)
            if time.monotonic() - looked >= _rest(begun, PROGRESS_SECONDS):
                looked = time.monotonic()
                if watch.look():
                    with outage.outlived():
                        rounds.look_back()
                    return watch.last
            time.sleep(_rest(begun, self._settings.tick_seconds))

    def _hand_out(self, rounds: Rounds) -> None:
        """One round, unless our term is over and somebody else leads now."""
        try:
            leads = self._leadership.held()
            if not leads and time.monotonic() >= self._next_try:
                self._next_try = time.monotonic() + self._settings.sweep_seconds
                leads = self._leadership.acquire()
            self._signs.leading = leads
            if leads:
                rounds.go()
        except DBAPIError:
            rounds.rest()
            raise

    def finish(self) -> None:
        """Begin to stop the pool, since no more work will come.

        Leaving the context does it too, and waits for the pool; a command that still has something to write calls
        this before.
        """
        if self._thread is not None and self._ending is None:
            self._ending = threading.Thread(target=self._stop_worker, args=(self._thread,), daemon=True)
            self._ending.start()

    def _start(self) -> None:
        self._stopping, self._thread, self._ending = False, None, None
        self._told = None
        if not self._leadership.acquire():
            raise AlreadyRunning
        self._undo.append(self._leadership.release)
        load_ahead(self._station)
        self._end_on_signals()
        # We lead, so whatever is in flight belongs to a command that is gone.
        self._put_back(lambda engine: reclaim_all(engine, self._settings, used=True), must=True)
        self._undo.append(self._hand_back)
        self._undo.append(self._station.close)
        self._undo.append(limit_processes(self._app, self._settings, self._processes))
        signals.worker_process_init.connect(_plain_streams)
        tallies = ExitStack()
        tallies.enter_context(tallying(self._station))
        self._undo.append(tallies.close)
        self._start_worker()
        heartbeat = Heartbeat(self._station, self._processes, self._station.alarm.raise_once)
        heartbeat.start()
        self._beat = heartbeat.pulse
        self._undo.append(heartbeat.stop)
        self._undo.append(watch_losses(self._station))

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
                for table in RELEASES:
                    hand_back(connection, table, self._station.worker)

        self._put_back(hand_back_all, must=False)

    def _put_back(self, action: Callable[[Engine], object], *, must: bool) -> None:
        engine = make_engine(self._settings.database_url, pooled=False)
        try:
            action(engine)
        except DBAPIError as error:
            if must or trouble_of(error) is None:
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

    def _start_worker(self) -> None:
        ready = threading.Event()
        controller: Any = WorkController(
            app=self._app,
            pool=EmbeddedPool,
            concurrency=self._processes,
            hostname=f"embedded@{self._station.host}",
            queues=QUEUES,
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
            quiet=True,
            ready_callback=lambda _consumer: ready.set(),
        )
        self._controller = controller
        thread = threading.Thread(target=controller.start, name="worker", daemon=True)
        thread.start()
        self._thread = thread
        self._undo.append(self._await_end)
        deadline = time.monotonic() + START_SECONDS
        while not ready.wait(0.05):
            if not thread.is_alive() or time.monotonic() > deadline:
                raise WorkerDidNotStart

    def _await_end(self) -> None:
        self.finish()
        if self._ending is not None:
            self._ending.join()

    def _stop_worker(self, thread: threading.Thread) -> None:
        # The pool's thread for time limits would go on until the interpreter ends.
        pool = getattr(self._controller.pool, "_pool", None)
        limits = getattr(pool, "_timeout_handler", None)
        if limits is not None:
            limits.close()
        # The worker looks at these flags only between messages, so it gets some.
        state = celery.worker.state
        patience = time.monotonic() + self._settings.stop_seconds
        state.should_stop = 0
        while thread.is_alive():
            self._renew()
            if self._hurried.is_set() or time.monotonic() > patience:
                state.should_terminate = 0
                # That processes die now is no news.
                for name in LOUD:
                    logging.getLogger(name).disabled = True
                if pool is not None:
                    _kill(pool)
            self._app.tasks[WAKE].apply_async(queue=QUEUES.split(",")[0])
            thread.join(WAKE_SECONDS)
        # What was sent too late would keep the pool of the next one in this process busy.
        self._app.control.purge()
        for name in LOUD:
            logging.getLogger(name).disabled = False
        state.should_stop = state.should_terminate = None

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
            else:
                # What is raised while something is collected, Python only reports.
                self._told = KeyboardInterrupt() if number == signal.SIGINT else SystemExit(128 + number)
                raise self._told

        before = signal.signal(signal.SIGTERM, end)
        self._undo.append(lambda: signal.signal(signal.SIGTERM, before))
        # Who ignores Ctrl-C, or hears it otherwise, goes on to.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, end)
            self._undo.append(lambda: signal.signal(signal.SIGINT, signal.default_int_handler))


def _rest(begun: float, longest: float) -> float:
    """Seconds until the next look: at first few, since a small job is done before a longer one is over."""
    return min(longest, 0.005 + (time.monotonic() - begun) / 20)


def _plain_streams(**_: object) -> None:
    """Let a pool process write past a display of progress, whose lock somebody may have held when it was forked."""
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__


def _kill(pool: Any) -> None:
    """Kill the processes of a pool that do not end. Whatever they were doing is in the database.

    billiard counts its processes while they end and can forget to tell one of them, for which it would then wait for
    ever; for what the dead would have said it would wait for five seconds.
    """
    pool._result_handler.terminate()
    for process in list(pool._pool):
        # One that is to replace a dead one may not have been started yet.
        if process.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
