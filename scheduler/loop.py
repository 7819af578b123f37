"""The scheduler as a program of its own."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from models.database.changes import Listener, listen
from models.database.compatibility import SCHEMA_CHECK_SECONDS, read_schema_problem
from models.database.migrate import REVISION
from models.database.session import autocommit_reading, make_engine
from models.queue_status.work import read_work
from runtime.health import Check, Liveness, ProcessStatus
from runtime.settings import Settings
from runtime.stop_request import StopRequest
from scheduler.clock_jumps import ClockJumps, ClockReading
from scheduler.completion_accounting import settle_ended
from scheduler.dispatch import dispatch, new_accounting
from scheduler.editions import Editions
from scheduler.errors import OtherTables
from scheduler.health import check_leading
from scheduler.leader import Leadership
from scheduler.lost_messages import recover_lost_messages
from scheduler.maintenance import Maintenance
from scheduler.recovery import sweep
from scheduler.telemetry import (
    DATABASE_ERRORS,
    MESSAGES_LOST,
    MESSAGES_SENT,
    TICK_SECONDS,
    SchedulerMetrics,
    new_counters,
)
from worker.health_checks import check_broker, check_database
from worker.tasks import MessageTransport

if TYPE_CHECKING:
    from scheduler.nightly.runner import NightlyRunner

log = logging.getLogger(__name__)


LONGEST_REST = 0.1
"""Seconds: who submits something waits for that."""

BEATS = 3.0
"""Heartbeat periods that workers are granted after the database becomes available again."""


class SchedulerStatus:
    """The status of a scheduler, readable from other threads."""

    def __init__(self) -> None:
        self.pulse = Liveness("round")
        self.counters = new_counters()
        self.leading = False

    @contextmanager
    def round(self) -> Iterator[None]:
        """A context for a round, or for a wait on standby."""
        try:
            yield
        except DBAPIError as error:
            self.counters.count(DATABASE_ERRORS.name)
            self.pulse.failed(error.orig)
            raise
        self.pulse.done()


class SchedulerLoop:
    """The scheduler's loop: send work whenever the database has changed, and sweep for lost work periodically.

    With `swept`, the first sweep is not due at once. `leads` is checked before each message.
    """

    def __init__(
        self,
        engine: Engine,
        transport: MessageTransport,
        settings: Settings,
        nightly_runs: NightlyRunner | None = None,
        status: SchedulerStatus | None = None,
        *,
        leads: Callable[[], bool] = lambda: True,
        swept: bool = False,
    ) -> None:
        self._engine = engine
        self._transport = transport
        self._settings = settings
        self._maintenance = Maintenance(engine, settings)
        self._nightly = nightly_runs
        self._leads = leads
        self.status = status or SchedulerStatus()
        self._clock = ClockJumps()
        self._accounting = new_accounting(settings)
        self._editions = Editions()
        self._next_sweep = time.monotonic() + settings.sweep_seconds if swept else 0.0
        self._next_thorough = self._next_sweep
        self._next_schema_check = 0.0
        self._sent = 0
        """Messages of the last round."""
        self.idle = False
        """Whether there was no work in the last round."""

    def due_in(self) -> float:
        """Seconds until the next round is due, if nothing changes before."""
        if self._maintenance.more:
            return 0.0
        rest = self._next_sweep - time.monotonic()
        return max(0.0, rest if self._nightly is None or self.idle else min(rest, self._nightly.due_in()))

    def run_once(self) -> bool:
        """Run one round; whether it included a sweep.

        Raises
        ------
        OtherTables
            If the tables are incompatible with this release.
        """
        begun = time.monotonic()
        with self.status.round():
            swept = self._run_once()
        self.status.counters.observe(TICK_SECONDS.name, time.monotonic() - begun)
        return swept

    def _run_once(self) -> bool:
        sweeps = time.monotonic() >= self._next_sweep
        self._check_schema()
        # Where something was sent just now there is no need to ask.
        work, clock = self._read_work() if sweeps or not self._sent else (True, None)
        thorough = sweeps and self._is_thorough()
        self.idle = not work and not thorough
        if self.idle:
            self._accounting.reset()
            self._sent = 0
        else:
            self._send_work()
        if not sweeps:
            self._maintenance.prune_more()
            return False
        if self._nightly is not None:
            self._nightly.notify()
        assert clock is not None
        self._clock.correct(self._engine, self._settings, clock)
        if not self.idle:
            self._sweep()
        self.settle_completed()
        self._next_sweep = time.monotonic() + self._settings.sweep_seconds
        return True

    def _send_work(self) -> None:
        self._sent = dispatch(self._engine, self._transport, self._settings, self._accounting, self._leads)
        self.status.counters.count(MESSAGES_SENT.name, amount=self._sent)
        if self._nightly is not None:
            self._nightly.run_once()

    def _sweep(self) -> None:
        counters = self.status.counters
        sweep(self._engine, self._settings, counters)
        self._editions.run_once(self._engine, self._settings)
        counters.count(MESSAGES_LOST.name, amount=recover_lost_messages(self._engine, self._transport, self._settings))
        self._maintenance.run_once()

    def _check_schema(self) -> None:
        """Raise OtherTables if the tables have become incompatible; checked every few seconds."""
        if time.monotonic() < self._next_schema_check:
            return
        # A statement of its own: incompatible tables may fail all others.
        with autocommit_reading(self._engine) as connection:
            problem = read_schema_problem(connection, REVISION)
        if problem is not None:
            raise OtherTables(problem)
        self._next_schema_check = time.monotonic() + SCHEMA_CHECK_SECONDS

    def _read_work(self) -> tuple[bool, ClockReading]:
        """Whether there is anything to send or anything that could be lost, and the database's clock."""
        before = time.monotonic()
        with autocommit_reading(self._engine) as connection:
            work, there = read_work(connection)
        return work, ClockReading(there, before, time.monotonic())

    def _is_thorough(self) -> bool:
        """Whether this sweep is one of those that look for lost work even if there seems to be none."""
        if time.monotonic() < self._next_thorough:
            return False
        self._next_thorough = time.monotonic() + self._settings.recount_seconds
        return True

    def pause_recovery(self) -> None:
        """Postpone the next sweep: without the database, no worker could update its heartbeat."""
        self._next_sweep = time.monotonic() + BEATS * self._settings.beat_seconds

    def settle_completed(self) -> None:
        """Settle the accounts of tasks that have ended."""
        settle_ended(self._engine, self._accounting)


def scheduler_status(settings: Settings, status: SchedulerStatus, broker: Callable[[], Check]) -> ProcessStatus:
    """The status of a scheduler process."""
    return ProcessStatus(
        "scheduler",
        live=(status.pulse.alive,),
        ready=(
            lambda: check_database(settings.database_url),
            broker,
            lambda: status.pulse.succeeds(settings.stale_seconds),
            lambda: check_leading(status.leading),
        ),
        collectors=(SchedulerMetrics(settings, status.counters, lambda: status.leading),),
    )


def run(settings: Settings, stop: StopRequest) -> None:
    """Schedule until `stop` is set, standing by while another scheduler leads. Outages of the database are tolerated.

    Raises
    ------
    AddressTaken
        If health and metrics cannot be served at the configured address.
    OtherTables
        If the tables become incompatible with this release.
    """
    # Imported here: the embedded worker uses this module without Celery and a web server.
    from runtime.http_server import serve_status
    from worker.app import Broker

    transport, status = Broker(settings), SchedulerStatus()
    process_status = lambda: scheduler_status(settings, status, lambda: check_broker(transport))  # noqa: E731
    with serve_status(settings.http_host, settings.http_port, process_status) as server:
        if server is not None:
            server.start()
        _stand_by_or_lead(settings, transport, stop, status)


def _stand_by_or_lead(
    settings: Settings, transport: MessageTransport, stop: StopRequest, status: SchedulerStatus
) -> None:
    from scheduler.nightly.runner import NightlyRunner

    engine = make_engine(settings.database_url, relaxed=True)
    nightly_runs = NightlyRunner(settings)
    leadership = Leadership(settings.database_url, settings.silent_seconds)
    loop = SchedulerLoop(engine, transport, settings, nightly_runs, status, leads=leadership.in_term)
    listener = listen(settings)
    try:
        while not stop.is_set():
            try:
                with status.round():
                    status.leading = leadership.held() or leadership.acquire()
                if not status.leading:
                    stop.wait(settings.sweep_seconds)
                    continue
                log.info("This scheduler leads")
                _lead(loop, leadership, listener, settings, stop)
            except DBAPIError as error:
                log.warning("The database cannot be used, trying again: %s", error.orig)
                loop.pause_recovery()
                stop.wait(settings.sweep_seconds)
    finally:
        nightly_runs.stop()
        leadership.release()
        listener.close()
        engine.dispose()


def _lead(
    loop: SchedulerLoop, leadership: Leadership, listener: Listener, settings: Settings, stop: StopRequest
) -> None:
    changed = True
    while not stop.is_set():
        if not leadership.held():
            log.warning("This scheduler no longer leads: its term has expired")
            return
        if changed or not loop.due_in():
            begun = time.monotonic()
            loop.run_once()
            # Handle a burst of changes in one round, the more of them the longer a round takes. If it rested longer
            # than that, a pool of a few processes would wait for it where shards take milliseconds.
            stop.wait(max(settings.tick_seconds, min(time.monotonic() - begun, LONGEST_REST)))
        changed = listener.wait(min(loop.due_in(), leadership.due_in()), stop)
