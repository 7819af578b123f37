"""Going on with nights: what the scheduler does about them in every sweep.

Steps may take long (a command that translates, a file system that is away), so each runs in a thread of its own. The
sweep plans, claims, starts, and renews the leases of what runs here.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from models.database.session import make_engine, reading, writing
from models.nightly.claims import OpenNight, claim_night, fail_night, open_nights, put_back_night, renew
from models.schema.states import NightState
from runtime.settings import Settings
from scheduler.nightly.commands import Stopped
from scheduler.nightly.plan import correct_plans, plan_due
from scheduler.nightly.steps import comparisons_are_open, fetch, judge, look_at_scores

log = logging.getLogger(__name__)

AT_ONCE = 4
"""Steps that run at the same time in one scheduler."""

HASTE_SECONDS = 0.1
"""Time between two rounds while somebody waits."""

CORRECT_SECONDS = 60.0
"""Time between two looks at whether nights are planned for the right time."""


@dataclass(slots=True)
class _Step:
    """A step that runs here."""

    night: OpenNight
    owner: str
    stop: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None


class Nights:
    """The nights of all schedules, or of `only` one night, as one process works on them."""

    def __init__(self, settings: Settings, *, only: int | None = None) -> None:
        self._settings = settings
        self._only = only
        # No connection outlives its transaction, so that pool processes inherit none when they are forked.
        self._engine: Engine = make_engine(settings.database_url, pooled=False)
        self._worker = f"{socket.gethostname()}-{os.getpid()}"
        self._steps: dict[int, _Step] = {}
        self._unreadable = Counter[int]()
        self._deliveries: threading.Thread | None = None
        self._next_round = self._next_correction = 0.0
        # Somebody waits for a night that was asked for by hand.
        self._pause = settings.sweep_seconds if only is None else min(HASTE_SECONDS, settings.sweep_seconds)

    @property
    def idle(self) -> bool:
        """Whether no step runs here."""
        return not self._steps

    def go(self) -> None:
        """One round, if it is time for one; to be called often. Raises DBAPIError when the database is away."""
        if time.monotonic() < self._next_round and not any(self._ended(step) for step in self._steps.values()):
            return
        self._next_round = time.monotonic() + self._pause
        try:
            self._round()
        except DBAPIError:
            raise
        except Exception:
            # Whatever is wrong with a schedule, campaigns must go on.
            log.exception("Nights cannot be gone on with")

    def _round(self) -> None:
        self._renew()
        if self._only is None:
            if time.monotonic() >= self._next_correction:
                self._next_correction = time.monotonic() + CORRECT_SECONDS
                correct_plans(self._engine)
            plan_due(self._engine)
            self.deliver()
        with reading(self._engine) as connection:
            nights = open_nights(connection, self._only)
        for night in nights:
            try:
                self._go_on(night)
            except DBAPIError:
                raise
            except Exception as error:
                log.exception("Night %s cannot be gone on with", night.id)
                self._note_unreadable(night, error)

    def deliver(self) -> None:
        """See to messages for webhooks, in a thread of its own: receivers may be slow."""
        if self._deliveries is not None and self._deliveries.is_alive():
            return
        self._deliveries = threading.Thread(target=self._deliver_now, name="webhooks", daemon=True)
        self._deliveries.start()

    def stop(self) -> None:
        """End what runs here, and let others have it; messages that are under way are waited for."""
        for step in self._steps.values():
            step.stop.set()
        for step in self._steps.values():
            assert step.thread is not None
            step.thread.join(self._settings.stop_seconds)
        if self._deliveries is not None:
            self._deliveries.join(self._settings.stop_seconds)
        self._steps.clear()
        self._engine.dispose()

    def _go_on(self, night: OpenNight) -> None:
        if night.state == NightState.SCORING:
            look_at_scores(self._engine, night.id)
            return
        if night.attempts >= self._settings.max_attempts:
            self._give_up(night)
            return
        if night.id in self._steps or len(self._steps) >= AT_ONCE:
            return
        if night.state == NightState.JUDGING and comparisons_are_open(self._engine, night.comparisons or ()):
            return
        step = _Step(night, uuid.uuid4().hex)
        with writing(self._engine) as connection:
            if not claim_night(connection, night, step.owner, self._worker, self._settings.silent_seconds):
                return
        step.thread = threading.Thread(target=self._run, args=(step,), name=f"night-{night.id}", daemon=True)
        self._steps[night.id] = step
        step.thread.start()

    def _give_up(self, night: OpenNight) -> None:
        tries = f"It was tried {night.attempts} times in the state {night.state}"
        self._end(night, f"{tries}, and each time the scheduler stopped or failed.")

    def _note_unreadable(self, night: OpenNight, error: Exception) -> None:
        """End a night that this scheduler cannot go on with, time and again: all others go on."""
        self._unreadable[night.id] += 1
        if self._unreadable[night.id] >= self._settings.max_attempts:
            del self._unreadable[night.id]
            self._end(
                night,
                f"The scheduler could not go on with it in the state {night.state}. {type(error).__name__}: {error}",
            )

    def _end(self, night: OpenNight, reason: str) -> None:
        with writing(self._engine, durable=True) as connection:
            fail_night(connection, night.id, night.state, None, reason)

    def _renew(self) -> None:
        """Keep hold of what runs here."""
        for key, step in list(self._steps.items()):
            if self._ended(step):
                del self._steps[key]
                continue
            with writing(self._engine) as connection:
                if not renew(connection, key, step.owner, self._settings.silent_seconds):
                    # Somebody else has it, or it has just ended by itself.
                    step.stop.set()

    @staticmethod
    def _ended(step: _Step) -> bool:
        return step.thread is not None and not step.thread.is_alive()

    def _run(self, step: _Step) -> None:
        """In a thread: one step, and whatever comes of it."""
        night = step.night
        try:
            if night.state == NightState.JUDGING:
                judge(self._engine, self._settings, night.id, step.owner, night.comparisons)
            else:
                fetch(self._engine, self._settings, night.id, step.owner, step.stop)
        except Stopped:
            self._let_go(step, None, 0.0, used=False)
        except DBAPIError as error:
            log.warning("Night %s cannot be gone on with, the database is away: %s", night.id, error.orig)
            self._let_go(step, None, self._settings.retry_seconds, used=True)
        except Exception as error:
            log.exception("Night %s cannot be gone on with", night.id)
            self._fail_or_retry(step, f"{type(error).__name__}: {error}")

    def _fail_or_retry(self, step: _Step, reason: str) -> None:
        attempt = step.night.attempts + 1
        if attempt < self._settings.max_attempts:
            self._let_go(step, reason, self._settings.retry_seconds * attempt, used=True)
            return
        state = NightState.FETCHING if step.night.state == NightState.DUE else step.night.state
        self._write(lambda: self._fail(step, state, reason))

    def _fail(self, step: _Step, state: NightState, reason: str) -> None:
        with writing(self._engine, durable=True) as connection:
            fail_night(connection, step.night.id, state, step.owner, reason)

    def _let_go(self, step: _Step, reason: str | None, delay_seconds: float, *, used: bool) -> None:
        def put_back() -> None:
            with writing(self._engine) as connection:
                put_back_night(connection, step.night.id, step.owner, reason, delay_seconds, used=used)

        self._write(put_back)

    def _write(self, action: Callable[[], None]) -> None:
        try:
            action()
        except DBAPIError as error:
            # The lease runs out by itself, and then somebody takes the night up again.
            log.warning("A night could not be given back: %s", error.orig)

    def _deliver_now(self) -> None:
        from scheduler.webhooks.delivery import deliver_due

        try:
            deliver_due(self._engine, self._settings)
        except DBAPIError as error:
            log.warning("Webhooks cannot be seen to, the database is away: %s", error.orig)
        except Exception:
            log.exception("Webhooks cannot be seen to")
