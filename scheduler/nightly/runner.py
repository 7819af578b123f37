"""Advances nightly runs in every sweep.

Steps may take long (a command that translates, an unavailable file system), so each runs in a thread of its own. The
sweep plans, claims, starts, and renews the leases of running steps.
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
from models.nightly.transitions import OpenRun, begin_run, fail_run, find_open_runs
from models.queue.kinds.nightly_run_steps import NIGHTLY_STEP, ClaimedStep, WaitingStep, waiting_steps
from models.queue.lease import release_worker, renew
from models.queue.task_kind import claim, release
from models.schema.nightly import NightlyRunStep
from models.schema.states import NightlyRunState
from runtime.settings import Settings
from runtime.tracing import span
from scheduler.nightly.commands import CommandStopped
from scheduler.nightly.plan import correct_plans, plan_due
from scheduler.nightly.steps import check_scores, comparisons_are_open, fetch, judge
from scheduler.notices.runner import NoticeRunner

log = logging.getLogger(__name__)

AT_ONCE = 4
"""Maximum number of concurrent steps in one scheduler."""

HASTE_SECONDS = 0.1
"""Seconds between two rounds while a user is waiting."""

CORRECT_SECONDS = 60.0
"""Seconds between two checks of the due times."""


@dataclass(slots=True)
class _Step:
    """A running step."""

    claimed: ClaimedStep
    stop: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None


class NightlyRunner:
    """Processes the nightly runs of all schedules, or `only` one run."""

    def __init__(self, settings: Settings, *, only: int | None = None) -> None:
        self._settings = settings
        self._only = only
        # No connection outlives its transaction, so that forked pool processes inherit none.
        self._engine: Engine = make_engine(settings.database_url, pooled=False)
        self._worker = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._steps: dict[int, _Step] = {}
        self._unreadable = Counter[int]()
        self._deliveries: threading.Thread | None = None
        self._notices = NoticeRunner(settings) if only is None else None
        self._next_round = self._next_correction = 0.0
        # A user is waiting for a manual run.
        self._pause = settings.sweep_seconds if only is None else min(HASTE_SECONDS, settings.sweep_seconds)

    @property
    def idle(self) -> bool:
        """Whether no step is running."""
        return not self._steps

    def due_in(self) -> float:
        """Seconds until the next round."""
        return max(0.0, self._next_round - time.monotonic())

    def run_once(self) -> None:
        """Run a round if one is due; call it often.

        Raises
        ------
        DBAPIError
            If the database is unavailable.
        """
        if time.monotonic() < self._next_round and not any(self._ended(step) for step in self._steps.values()):
            return
        self._next_round = time.monotonic() + self._pause
        try:
            self._round()
        except DBAPIError:
            raise
        except Exception:
            # Whatever is wrong with a schedule, campaigns must go on.
            log.exception("Nightly runs failed to advance")

    def _round(self) -> None:
        self._renew()
        if self._only is None:
            if time.monotonic() >= self._next_correction:
                self._next_correction = time.monotonic() + CORRECT_SECONDS
                correct_plans(self._engine)
            plan_due(self._engine)
            self.deliver()
        with reading(self._engine) as connection:
            nightly_runs = find_open_runs(connection, self._only)
        for nightly_run in nightly_runs:
            self._try(nightly_run.id, nightly_run.state, partial(self._advance, nightly_run))
        with reading(self._engine) as connection:
            steps = waiting_steps(connection, self._only)
        for step in steps:
            self._try(step.nightly_run_id, step.state, partial(self._begin, step))

    def _try(self, nightly_run_id: int, state: NightlyRunState, action: Callable[[], None]) -> None:
        """Advance a run; an unreadable one does not stop the others."""
        try:
            action()
        except DBAPIError:
            raise
        except Exception as error:
            log.exception("Nightly run %s failed to advance", nightly_run_id)
            self._fail_unreadable(nightly_run_id, state, error)

    def notify(self) -> None:
        """Tell people what has happened, whether there are nightly runs or not. Raises DBAPIError."""
        if self._notices is not None:
            self._notices.run_once()

    def deliver(self) -> None:
        """Send webhook deliveries, in a thread of its own: receivers may be slow."""
        if self._deliveries is not None and self._deliveries.is_alive():
            return
        self._deliveries = threading.Thread(target=self._deliver_now, name="webhooks", daemon=True)
        self._deliveries.start()

    def stop(self) -> None:
        """Stop running steps and release them; wait for what is being sent. All of it has `stop_seconds` together."""
        deadline = time.monotonic() + self._settings.stop_seconds
        for step in self._steps.values():
            step.stop.set()
        for step in self._steps.values():
            assert step.thread is not None
            step.thread.join(max(0.0, deadline - time.monotonic()))
        if self._steps:
            self._release_all()
        if self._notices is not None:
            self._notices.stop(max(0.0, deadline - time.monotonic()))
        if self._deliveries is not None:
            self._deliveries.join(max(0.0, deadline - time.monotonic()))
        self._steps.clear()
        self._engine.dispose()

    def _advance(self, nightly_run: OpenRun) -> None:
        if nightly_run.state == NightlyRunState.SCORING:
            check_scores(self._engine, nightly_run.id)
            return
        with writing(self._engine) as connection:
            begin_run(connection, nightly_run)

    def _begin(self, waiting: WaitingStep) -> None:
        """Claim a step and run it in a thread, if there is a free slot."""
        if len(self._steps) >= AT_ONCE:
            return
        if waiting.state == NightlyRunState.JUDGING and comparisons_are_open(self._engine, waiting.comparisons or ()):
            return
        policy = NIGHTLY_STEP.policy(self._settings)
        with writing(self._engine) as connection:
            claimed = claim(connection, NIGHTLY_STEP, waiting.key, policy, owner=uuid.uuid4().hex, worker=self._worker)
        if claimed is None:
            return
        step = _Step(claimed)
        step.thread = threading.Thread(
            target=self._run, args=(step,), name=f"run-{claimed.nightly_run_id}", daemon=True
        )
        self._steps[claimed.key] = step
        step.thread.start()

    def _fail_unreadable(self, nightly_run_id: int, state: NightlyRunState, error: Exception) -> None:
        """Fail a run that this scheduler repeatedly cannot advance; the others continue."""
        self._unreadable[nightly_run_id] += 1
        if self._unreadable[nightly_run_id] >= self._settings.max_attempts:
            del self._unreadable[nightly_run_id]
            reason = f"The scheduler could not continue it in the state {state}. {type(error).__name__}: {error}"
            with writing(self._engine, durable=True) as connection:
                fail_run(connection, nightly_run_id, state, reason)

    def _renew(self) -> None:
        """Renew the leases of running steps."""
        for key, step in list(self._steps.items()):
            if self._ended(step):
                del self._steps[key]
                continue
            with writing(self._engine) as connection:
                if not renew(connection, NightlyRunStep, key, step.claimed.owner, self._settings.silent_seconds):
                    # Another scheduler has it, or it has just ended.
                    step.stop.set()

    @staticmethod
    def _ended(step: _Step) -> bool:
        return step.thread is not None and not step.thread.is_alive()

    def _run(self, step: _Step) -> None:
        """Run one step and handle its outcome, in a thread."""
        claimed = step.claimed
        with span(NIGHTLY_STEP.title, claimed.trace, nightly_run=claimed.nightly_run_id, state=str(claimed.state)):
            self._run_claimed(step, claimed)

    def _run_claimed(self, step: _Step, claimed: ClaimedStep) -> None:
        try:
            if claimed.state == NightlyRunState.JUDGING:
                judge(self._engine, self._settings, claimed)
            else:
                fetch(self._engine, self._settings, claimed, step.stop)
        except CommandStopped:
            # Another scheduler has it by now, or it was released with everything else.
            return
        except DBAPIError as error:
            # The lease expires, and the step is taken up again.
            log.warning(
                "Nightly run %s cannot continue, the database is unavailable: %s", claimed.nightly_run_id, error.orig
            )
        except Exception as error:
            log.exception("Nightly run %s failed to advance", claimed.nightly_run_id)
            self._release(claimed, f"{type(error).__name__}: {error}")

    def _release(self, claimed: ClaimedStep, reason: str) -> None:
        policy = NIGHTLY_STEP.policy(self._settings)
        try:
            with writing(self._engine, durable=True) as connection:
                release(connection, NIGHTLY_STEP, claimed.key, claimed.owner, reason, policy)
        except DBAPIError as error:
            log.warning("A step of a nightly run could not be released: %s", error.orig)

    def _release_all(self) -> None:
        """Release running steps at once; no attempt is counted."""
        try:
            with writing(self._engine) as connection:
                release_worker(connection, NightlyRunStep, self._worker)
        except DBAPIError as error:
            log.warning("Steps of nightly runs could not be released: %s", error.orig)

    def _deliver_now(self) -> None:
        from scheduler.webhooks.delivery import deliver_due

        try:
            deliver_due(self._engine, self._settings)
        except DBAPIError as error:
            log.warning("Webhook deliveries cannot be sent, the database is unavailable: %s", error.orig)
        except Exception:
            log.exception("Webhook deliveries failed")
