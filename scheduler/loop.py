"""The scheduler as a program of its own."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from models.database.compatibility import read_trouble
from models.database.migrate import REVISION
from models.database.session import make_engine, reading
from runtime.health import Pulse
from runtime.http_server import Outlook, bound
from runtime.settings import Settings
from scheduler.clock_jumps import Clock
from scheduler.completion_accounting import settle_ended
from scheduler.dispatch import dispatch, new_accounts
from scheduler.editions import Editions
from scheduler.errors import OtherTables
from scheduler.health import check_leading
from scheduler.leader import Leadership
from scheduler.lost_messages import forget_lost_hints
from scheduler.maintenance import Upkeep
from scheduler.nightly.runner import Nights
from scheduler.recovery import sweep
from scheduler.telemetry import DATABASE_ERRORS, HINTS_LOST, HINTS_SENT, TICK_SECONDS, SchedulerMetrics, new_tally
from worker.app import make_app
from worker.health_checks import check_broker, check_database

log = logging.getLogger(__name__)


BEATS = 3.0
"""So many beats of its heart a worker is given when the database comes back."""


class Signs:
    """What a scheduler shows of itself, to be read in other threads."""

    def __init__(self) -> None:
        self.pulse = Pulse("round")
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


class Rounds:
    """The scheduler's rounds: hand out work each tick, look for lost work now and then.

    Where that was done just now (`swept`), it is not done again at once. `leads` is asked before anything is sent.
    """

    def __init__(
        self,
        engine: Engine,
        app: Any,
        settings: Settings,
        nights: Nights | None = None,
        signs: Signs | None = None,
        *,
        leads: Callable[[], bool] = lambda: True,
        swept: bool = False,
    ) -> None:
        self._engine = engine
        self._app = app
        self._settings = settings
        self._upkeep = Upkeep(engine, settings)
        self._nights = nights
        self._leads = leads
        self.signs = signs or Signs()
        self._clock = Clock()
        self._accounts = new_accounts(settings)
        self._editions = Editions()
        self._next_sweep = time.monotonic() + settings.sweep_seconds if swept else 0.0

    def go(self) -> bool:
        """One round; whether it swept. Raises OtherTables."""
        begun = time.monotonic()
        with self.signs.round():
            swept = self._go()
        self.signs.tally.observe(TICK_SECONDS.name, time.monotonic() - begun)
        return swept

    def _go(self) -> bool:
        tally = self.signs.tally
        sent = dispatch(self._engine, self._app, self._settings, self._accounts, self._leads)
        tally.count(HINTS_SENT.name, amount=sent)
        if self._nights is not None:
            self._nights.go()
        if time.monotonic() < self._next_sweep:
            self._upkeep.go_on()
            return False
        self._clock.mend(self._engine, self._settings)
        self._check()
        sweep(self._engine, self._settings, tally)
        self._editions.go(self._engine, self._settings)
        tally.count(HINTS_LOST.name, amount=forget_lost_hints(self._engine, self._app, self._settings))
        self._upkeep.go()
        self.look_back()
        self._next_sweep = time.monotonic() + self._settings.sweep_seconds
        return True

    def _check(self) -> None:
        with reading(self._engine) as connection:
            trouble = read_trouble(connection, REVISION)
        if trouble is not None:
            raise OtherTables(trouble)

    def rest(self) -> None:
        """Leave lost work alone for a while: without the database no worker could say that it lives."""
        self._next_sweep = time.monotonic() + BEATS * self._settings.beat_seconds

    def look_back(self) -> None:
        """Take note of what has ended since the last time."""
        settle_ended(self._engine, self._accounts)


def scheduler_outlook(settings: Settings, app: Any, signs: Signs) -> Outlook:
    """What a scheduler shows of itself."""
    return Outlook(
        "scheduler",
        live=(signs.pulse.turns,),
        ready=(
            lambda: check_database(settings.database_url),
            lambda: check_broker(app, settings),
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
    app, signs = make_app(settings), Signs()
    with bound(settings.http_host, settings.http_port, lambda: scheduler_outlook(settings, app, signs)) as server:
        if server is not None:
            server.start()
        _stand_by_or_lead(settings, app, stop, signs)


def _stand_by_or_lead(settings: Settings, app: Any, stop: threading.Event, signs: Signs) -> None:
    engine = make_engine(settings.database_url, relaxed=True)
    nights = Nights(settings)
    lead = Leadership(settings.database_url, settings.silent_seconds)
    rounds = Rounds(engine, app, settings, nights, signs, leads=lead.in_term)
    try:
        while not stop.is_set():
            try:
                with signs.round():
                    signs.leading = lead.held() or lead.acquire()
                if not signs.leading:
                    stop.wait(settings.sweep_seconds)
                    continue
                log.info("This scheduler leads")
                _lead(rounds, lead, settings, stop)
            except DBAPIError as error:
                log.warning("The database cannot be used, trying again: %s", error.orig)
                rounds.rest()
                stop.wait(settings.sweep_seconds)
    finally:
        nights.stop()
        lead.release()
        engine.dispose()


def _lead(rounds: Rounds, lead: Leadership, settings: Settings, stop: threading.Event) -> None:
    while not stop.is_set():
        if not lead.held():
            log.warning("This scheduler leads no longer: its term is over")
            return
        rounds.go()
        stop.wait(settings.tick_seconds)
