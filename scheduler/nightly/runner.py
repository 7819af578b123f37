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
from functools import partial

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from models.database.session import make_engine, reading, writing
from models.nightly.transitions import OpenNight, begin_night, fail_night, open_nights
from models.queue.kinds.night_steps import NIGHT_STEP, ClaimedStep, WaitingStep, waiting_steps
from models.queue.lease import release_worker, renew
from models.queue.task_kind import claim, release
from models.schema.nightly import NightStep
from models.schema.states import NightState
from runtime.settings import Settings
from scheduler.nightly.commands import CommandStopped
from scheduler.nightly.plan import correct_plans, plan_due
from scheduler.nightly.steps import check_scores, comparisons_are_open, fetch, judge

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

    claimed: ClaimedStep
    stop: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None


class NightlyRunner:
    """The nights of all schedules, or of `only` one night, as one process works on them."""

    def __init__(self, settings: Settings, *, only: int | None = None) -> None:
        self._settings = settings
        self._only = only
        # No connection outlives its transaction, so that pool processes inherit none when they are forked.
        self._engine: Engine = make_engine(settings.database_url, pooled=False)
        self._worker = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
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

    def due_in(self) -> float:
        """Seconds until it is time for the next round."""
        return max(0.0, self._next_round - time.monotonic())

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
            self._try(night.id, night.state, partial(self._move_on, night))
        with reading(self._engine) as connection:
            steps = waiting_steps(connection, self._only)
        for step in steps:
            self._try(step.night_id, step.state, partial(self._begin, step))

    def _try(self, night_id: int, state: NightState, action: Callable[[], None]) -> None:
        """Go on with a night; one that cannot be read stops no other."""
        try:
            action()
        except DBAPIError:
            raise
        except Exception as error:
            log.exception("Night %s cannot be gone on with", night_id)
            self._note_unreadable(night_id, state, error)

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
        if self._steps:
            self._hand_back()
        if self._deliveries is not None:
            self._deliveries.join(self._settings.stop_seconds)
        self._steps.clear()
        self._engine.dispose()

    def _move_on(self, night: OpenNight) -> None:
        if night.state == NightState.SCORING:
            check_scores(self._engine, night.id)
            return
        with writing(self._engine) as connection:
            begin_night(connection, night)

    def _begin(self, waiting: WaitingStep) -> None:
        """Claim a step and do it in a thread of its own, if there is room for one."""
        if len(self._steps) >= AT_ONCE:
            return
        if waiting.state == NightState.JUDGING and comparisons_are_open(self._engine, waiting.comparisons or ()):
            return
        policy = NIGHT_STEP.policy(self._settings)
        with writing(self._engine) as connection:
            claimed = claim(connection, NIGHT_STEP, waiting.key, policy, owner=uuid.uuid4().hex, worker=self._worker)
        if claimed is None:
            return
        step = _Step(claimed)
        step.thread = threading.Thread(target=self._run, args=(step,), name=f"night-{claimed.night_id}", daemon=True)
        self._steps[claimed.key] = step
        step.thread.start()

    def _note_unreadable(self, night_id: int, state: NightState, error: Exception) -> None:
        """End a night that this scheduler cannot go on with, time and again: all others go on."""
        self._unreadable[night_id] += 1
        if self._unreadable[night_id] >= self._settings.max_attempts:
            del self._unreadable[night_id]
            reason = f"The scheduler could not go on with it in the state {state}. {type(error).__name__}: {error}"
            with writing(self._engine, durable=True) as connection:
                fail_night(connection, night_id, state, reason)

    def _renew(self) -> None:
        """Keep hold of what runs here."""
        for key, step in list(self._steps.items()):
            if self._ended(step):
                del self._steps[key]
                continue
            with writing(self._engine) as connection:
                if not renew(connection, NightStep, key, step.claimed.owner, self._settings.silent_seconds):
                    # Somebody else has it, or it has just ended by itself.
                    step.stop.set()

    @staticmethod
    def _ended(step: _Step) -> bool:
        return step.thread is not None and not step.thread.is_alive()

    def _run(self, step: _Step) -> None:
        """In a thread: one step, and whatever comes of it."""
        claimed = step.claimed
        try:
            if claimed.state == NightState.JUDGING:
                judge(self._engine, self._settings, claimed)
            else:
                fetch(self._engine, self._settings, claimed, step.stop)
        except CommandStopped:
            # It is somebody else's by now, or handed back with all that runs here.
            return
        except DBAPIError as error:
            # The lease runs out by itself, and then somebody takes it up again.
            log.warning("Night %s cannot be gone on with, the database is away: %s", claimed.night_id, error.orig)
        except Exception as error:
            log.exception("Night %s cannot be gone on with", claimed.night_id)
            self._release(claimed, f"{type(error).__name__}: {error}")

    def _release(self, claimed: ClaimedStep, reason: str) -> None:
        policy = NIGHT_STEP.policy(self._settings)
        try:
            with writing(self._engine, durable=True) as connection:
                release(connection, NIGHT_STEP, claimed.key, claimed.owner, reason, policy)
        except DBAPIError as error:
            log.warning("A step of a night could not be released: %s", error.orig)

    def _hand_back(self) -> None:
        """Let others have at once what runs here; no attempt is used."""
        try:
            with writing(self._engine) as connection:
                release_worker(connection, NightStep, self._worker)
        except DBAPIError as error:
            log.warning("Steps of nights could not be handed back: %s", error.orig)

    def _deliver_now(self) -> None:
        from scheduler.webhooks.delivery import deliver_due

        try:
            deliver_due(self._engine, self._settings)
        except DBAPIError as error:
            log.warning("Webhooks cannot be seen to, the database is away: %s", error.orig)
        except Exception:
            log.exception("Webhooks cannot be seen to")
