"""The scheduler as a program of its own."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from models.database.changes import Listener, listen
from models.database.compatibility import read_schema_problem
from models.database.migrate import REVISION
from models.database.session import make_engine, reading_once
from models.queue_status.work import is_there_work
from runtime.health import Check, Liveness
from runtime.http_server import ProcessStatus, serve_status
from runtime.settings import Settings
from scheduler.clock_jumps import ClockJumps
from scheduler.completion_accounting import settle_ended
from scheduler.dispatch import dispatch, new_accounting
from scheduler.editions import Editions
from scheduler.errors import OtherTables
from scheduler.health import check_leading
from scheduler.leader import Leadership
from scheduler.lost_messages import forget_lost_hints
from scheduler.maintenance import Maintenance
from scheduler.nightly.runner import NightlyRunner
from scheduler.recovery import sweep
from scheduler.telemetry import DATABASE_ERRORS, HINTS_LOST, HINTS_SENT, TICK_SECONDS, SchedulerMetrics, new_tally
from worker.health_checks import check_broker, check_database
from worker.tasks import Messages

log = logging.getLogger(__name__)


BEATS = 3.0
"""So many beats of its heart a worker is given when the database comes back."""


class SchedulerStatus:
    """What a scheduler shows of itself, to be read in other threads."""

    def __init__(self) -> None:
        self.pulse = Liveness("round")
        self.tally = new_tally()
        self.leading = False

    @contextmanager
    def round(self) -> Iterator[None]:
        """A round, or the wait of one that stands by."""
        try:
            yield
        except DBAPIError as error:
            self.tally.count(DATABASE_ERRORS.name)
            self.pulse.failed(error.orig)
            raise
        self.pulse.done()


class SchedulerLoop:
    """The scheduler's rounds: hand out work whenever the database has changed, look for lost work now and then.

    Where that was done just now (`swept`), it is not done again at once. `leads` is asked before anything is sent.
    """

    def __init__(
        self,
        engine: Engine,
        messages: Messages,
        settings: Settings,
        nights: NightlyRunner | None = None,
        signs: SchedulerStatus | None = None,
        *,
        leads: Callable[[], bool] = lambda: True,
        swept: bool = False,
    ) -> None:
        self._engine = engine
        self._messages = messages
        self._settings = settings
        self._upkeep = Maintenance(engine, settings)
        self._nights = nights
        self._leads = leads
        self.signs = signs or SchedulerStatus()
        self._clock = ClockJumps()
        self._accounts = new_accounting(settings)
        self._editions = Editions()
        self._next_sweep = time.monotonic() + settings.sweep_seconds if swept else 0.0
        self._next_thorough = self._next_sweep
        self._idle = False

    def due_in(self) -> float:
        """Seconds until the next round is due, if nothing changes before."""
        if self._upkeep.more:
            return 0.0
        rest = self._next_sweep - time.monotonic()
        return max(0.0, rest if self._nights is None or self._idle else min(rest, self._nights.due_in()))

    def go(self) -> bool:
        """One round; whether it swept. Raises OtherTables."""
        begun = time.monotonic()
        with self.signs.round():
            swept = self._go()
        self.signs.tally.observe(TICK_SECONDS.name, time.monotonic() - begun)
        return swept

    def _go(self) -> bool:
        sweeps = time.monotonic() >= self._next_sweep
        self._idle = self._look(sweeps)
        if self._idle:
            self._accounts.nobody_waits()
        else:
            self._hand_out()
        if not sweeps:
            self._upkeep.go_on()
            return False
        self._clock.mend(self._engine, self._settings)
        if not self._idle:
            self._sweep()
        self.look_back()
        self._next_sweep = time.monotonic() + self._settings.sweep_seconds
        return True

    def _hand_out(self) -> None:
        sent = dispatch(self._engine, self._messages, self._settings, self._accounts, self._leads)
        self.signs.tally.count(HINTS_SENT.name, amount=sent)
        if self._nights is not None:
            self._nights.go()

    def _sweep(self) -> None:
        tally = self.signs.tally
        sweep(self._engine, self._settings, tally)
        self._editions.go(self._engine, self._settings)
        tally.count(HINTS_LOST.name, amount=forget_lost_hints(self._engine, self._messages, self._settings))
        self._upkeep.go()

    def _look(self, sweeps: bool) -> bool:
        """Whether there is nothing to hand out, and nothing that could be lost; now and then a sweep looks itself.

        Raises OtherTables.
        """
        with reading_once(self._engine) as connection:
            trouble = read_schema_problem(connection, REVISION) if sweeps else None
            idle = not is_there_work(connection)
        if trouble is not None:
            raise OtherTables(trouble)
        if sweeps and time.monotonic() >= self._next_thorough:
            self._next_thorough = time.monotonic() + self._settings.recount_seconds
            return False
        return idle

    def rest(self) -> None:
        """Leave lost work alone for a while: without the database no worker could say that it lives."""
        self._next_sweep = time.monotonic() + BEATS * self._settings.beat_seconds

    def look_back(self) -> None:
        """Take note of what has ended since the last time."""
        settle_ended(self._engine, self._accounts)


def scheduler_status(settings: Settings, signs: SchedulerStatus, broker: Callable[[], Check]) -> ProcessStatus:
    """What a scheduler shows of itself."""
    return ProcessStatus(
        "scheduler",
        live=(signs.pulse.turns,),
        ready=(
            lambda: check_database(settings.database_url),
            broker,
            lambda: signs.pulse.succeeds(settings.stale_seconds),
            lambda: check_leading(signs.leading),
        ),
        collectors=(SchedulerMetrics(settings, signs.tally, lambda: signs.leading),),
    )


def run(settings: Settings, stop: threading.Event) -> None:
    """Hand out work until `stop` is set. Waits while another scheduler leads; outlives the database.

    Raises AddressTaken where health and metrics cannot be served as the settings want it, and OtherTables when the
    tables become those of a release with which this one cannot work.
    """
    # The embedded worker, which has the scheduler beside it, needs no Celery.
    from worker.app import Broker

    messages, signs = Broker(settings), SchedulerStatus()
    outlook = lambda: scheduler_status(settings, signs, lambda: check_broker(messages))  # noqa: E731
    with serve_status(settings.http_host, settings.http_port, outlook) as server:
        if server is not None:
            server.start()
        _stand_by_or_lead(settings, messages, stop, signs)


def _stand_by_or_lead(settings: Settings, messages: Messages, stop: threading.Event, signs: SchedulerStatus) -> None:
    engine = make_engine(settings.database_url, relaxed=True)
    nights = NightlyRunner(settings)
    lead = Leadership(settings.database_url, settings.silent_seconds)
    rounds = SchedulerLoop(engine, messages, settings, nights, signs, leads=lead.in_term)
    listener = listen(settings)
    try:
        while not stop.is_set():
            try:
                with signs.round():
                    signs.leading = lead.held() or lead.acquire()
                if not signs.leading:
                    stop.wait(settings.sweep_seconds)
                    continue
                log.info("This scheduler leads")
                _lead(rounds, lead, listener, settings, stop)
            except DBAPIError as error:
                log.warning("The database cannot be used, trying again: %s", error.orig)
                rounds.rest()
                stop.wait(settings.sweep_seconds)
    finally:
        nights.stop()
        lead.release()
        listener.close()
        engine.dispose()


def _lead(
    rounds: SchedulerLoop, lead: Leadership, listener: Listener, settings: Settings, stop: threading.Event
) -> None:
    changed = True
    while not stop.is_set():
        if not lead.held():
            log.warning("This scheduler leads no longer: its term is over")
            return
        if changed or not rounds.due_in():
            rounds.go()
            # Many changes in a moment are one round.
            stop.wait(settings.tick_seconds)
        changed = listener.wait(min(rounds.due_in(), lead.due_in()), stop)
