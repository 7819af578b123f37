"""The life cycle of a step of a nightly run. The scheduler runs steps itself (`scheduler.nightly.runner`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, and_, or_, select

from models.nightly.transitions import BEGUN, await_comparisons, begin_scoring, fail_run, finish_run
from models.queue.task_kind import Claim, Failure, LeasePolicy, TaskKind, queue_policy
from models.schema.base import now
from models.schema.column_types import kept
from models.schema.declarative import aliased
from models.schema.nightly import NightlyRun, NightlyRunStep
from models.schema.states import LeaseState, NightlyRunState
from runtime.settings import Settings

FAILED = {
    NightlyRunState.FETCHING: "Its outputs could not be fetched",
    NightlyRunState.JUDGING: "It could not be judged",
}
"""Reasons by the state in which a run fails."""


@dataclass(frozen=True, slots=True)
class ClaimedStep(Claim):
    """A step of a nightly run under our lease, which is renewed while the step runs."""

    nightly_run_id: int
    state: NightlyRunState
    """The state of the run, which determines the step."""
    comparisons: tuple[int, ...] | None
    """The comparisons that the run waited for."""


@dataclass(frozen=True, slots=True)
class WaitingStep:
    """A step that can be claimed."""

    key: int
    nightly_run_id: int
    state: NightlyRunState
    comparisons: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Fetched:
    """The evaluations to be measured: (evaluation, system)."""

    members: Sequence[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Asked:
    """Comparisons that must finish before the run can be judged."""

    comparisons: Sequence[int]


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict."""

    verdict: dict[str, Any]
    regressed: bool


def waiting_steps(connection: Connection, only: int | None = None) -> list[WaitingStep]:
    """Steps that may begin now, those of the earliest runs first.

    With `only`, none but those of this run, and of the runs of its schedule that it waits for.
    """
    chosen = (
        select(NightlyRunStep.id, NightlyRunStep.nightly_run_id, NightlyRun.state, NightlyRun.comparisons)
        .join(NightlyRun, NightlyRun.id == NightlyRunStep.nightly_run_id)
        .where(NightlyRunStep.state == LeaseState.PENDING, NightlyRunStep.not_before <= now())
        .order_by(NightlyRun.due_at, NightlyRun.id)
    )
    if only is not None:
        other = aliased(NightlyRun)
        schedule = select(other.schedule_id).where(other.id == only).scalar_subquery()
        chosen = chosen.where(
            or_(NightlyRun.id == only, and_(NightlyRun.schedule_id == schedule, NightlyRun.state.in_(BEGUN)))
        )
    return [
        WaitingStep(
            row.id, row.nightly_run_id, row.state, None if row.comparisons is None else kept(row.comparisons, tuple)
        )
        for row in connection.execute(chosen)
    ]


def _load(connection: Connection, claim: Claim) -> ClaimedStep | None:
    row = connection.execute(
        select(NightlyRun.id, NightlyRun.state, NightlyRun.comparisons)
        .join(NightlyRunStep, NightlyRunStep.nightly_run_id == NightlyRun.id)
        .where(NightlyRunStep.id == claim.key)
    ).one()
    if row.state not in FAILED:
        return None
    comparisons = None if row.comparisons is None else kept(row.comparisons, tuple)
    return ClaimedStep(*claim.identity, nightly_run_id=row.id, state=row.state, comparisons=comparisons)


def _complete(connection: Connection, step: ClaimedStep, result: Fetched | Asked | Judged) -> None:
    """Advance the run. Only the holder of the step does so, apart from functions that end both."""
    match result:
        case Fetched(members):
            begin_scoring(connection, step.nightly_run_id, members)
        case Asked(comparisons):
            await_comparisons(connection, step.nightly_run_id, comparisons)
        case Judged(verdict, regressed):
            finish_run(connection, step.nightly_run_id, verdict, regressed=regressed)


def _exhausted(connection: Connection, row: Row[Any], failure: Failure) -> None:
    """Fail the run."""
    for state, what in FAILED.items():
        # A permanent error is a sufficient reason by itself.
        reason = failure.reason if failure.permanent else failure.describe(what)
        fail_run(connection, row.nightly_run_id, state, reason)


def _log_fields(connection: Connection, key: int) -> dict[str, Any]:
    return {"nightly_run": connection.scalar(select(NightlyRunStep.nightly_run_id).where(NightlyRunStep.id == key))}


def _policy(settings: Settings) -> LeasePolicy:
    """A short lease: it is renewed while a step runs."""
    policy = queue_policy(settings)
    return LeasePolicy(settings.silent_seconds, policy.max_attempts, policy.delay)


NIGHTLY_STEP: TaskKind[ClaimedStep, Fetched | Asked | Judged] = TaskKind(
    name="nightly_run_steps",
    table=NightlyRunStep,
    message=None,
    run=None,
    load=_load,
    complete=_complete,
    exhausted=_exhausted,
    log_fields=_log_fields,
    policy=_policy,
)
