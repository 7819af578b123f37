"""The life of a step of a night. The scheduler does them itself (`scheduler.nightly.runner`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, and_, or_, select
from sqlalchemy.orm import aliased

from models.nightly.transitions import BEGUN, await_comparisons, begin_scoring, fail_night, finish_night
from models.queue.task_kind import Claim, Failure, LeasePolicy, TaskKind, queue_policy
from models.schema.base import now
from models.schema.column_types import kept
from models.schema.nightly import Night, NightStep
from models.schema.states import LeaseState, NightState
from runtime.settings import Settings

FAILED = {
    NightState.FETCHING: "Its outputs could not be fetched",
    NightState.JUDGING: "It could not be judged",
}
"""What is said of a night that fails in a state in which there is something to do."""


@dataclass(frozen=True, slots=True)
class ClaimedStep(Claim):
    """A step of a night that is ours until its lease, which is renewed while we work on it, is over."""

    night_id: int
    state: NightState
    """That of the night, which says what the step is."""
    comparisons: tuple[int, ...] | None
    """Those that the night waited for."""


@dataclass(frozen=True, slots=True)
class WaitingStep:
    """A step that somebody could claim."""

    key: int
    night_id: int
    state: NightState
    comparisons: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Fetched:
    """What is to be measured: (evaluation, system)."""

    members: Sequence[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Asked:
    """Comparisons that are wanted before a night can be judged."""

    comparisons: Sequence[int]


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found."""

    verdict: dict[str, Any]
    regressed: bool


def waiting_steps(connection: Connection, only: int | None = None) -> list[WaitingStep]:
    """Steps that may begin now, those of the earliest nights first.

    With `only` none but those of this night, and of those of its schedule that it waits for.
    """
    chosen = (
        select(NightStep.id, NightStep.night_id, Night.state, Night.comparisons)
        .join(Night, Night.id == NightStep.night_id)
        .where(NightStep.state == LeaseState.PENDING, NightStep.not_before <= now())
        .order_by(Night.due_at, Night.id)
    )
    if only is not None:
        other = aliased(Night)
        schedule = select(other.schedule_id).where(other.id == only).scalar_subquery()
        chosen = chosen.where(or_(Night.id == only, and_(Night.schedule_id == schedule, Night.state.in_(BEGUN))))
    return [
        WaitingStep(row.id, row.night_id, row.state, None if row.comparisons is None else kept(row.comparisons, tuple))
        for row in connection.execute(chosen)
    ]


def _load(connection: Connection, claim: Claim) -> ClaimedStep | None:
    row = connection.execute(
        select(Night.id, Night.state, Night.comparisons)
        .join(NightStep, NightStep.night_id == Night.id)
        .where(NightStep.id == claim.key)
    ).one()
    if row.state not in FAILED:
        return None
    comparisons = None if row.comparisons is None else kept(row.comparisons, tuple)
    return ClaimedStep(*claim.identity, night_id=row.id, state=row.state, comparisons=comparisons)


def _complete(connection: Connection, step: ClaimedStep, result: Fetched | Asked | Judged) -> None:
    """Move the night on. Nobody else does while the step is held, but for those who end both."""
    match result:
        case Fetched(members):
            begin_scoring(connection, step.night_id, members)
        case Asked(comparisons):
            await_comparisons(connection, step.night_id, comparisons)
        case Judged(verdict, regressed):
            finish_night(connection, step.night_id, verdict, regressed=regressed)


def _exhausted(connection: Connection, row: Row[Any], failure: Failure) -> None:
    """Fail the night."""
    for state, what in FAILED.items():
        # What comes again whoever tries is a reason by itself.
        reason = failure.reason if failure.permanent else failure.told(what)
        fail_night(connection, row.night_id, state, reason)


def _log_fields(connection: Connection, key: int) -> dict[str, Any]:
    return {"night": connection.scalar(select(NightStep.night_id).where(NightStep.id == key))}


def _policy(settings: Settings) -> LeasePolicy:
    """A short lease: it is renewed while a step runs."""
    policy = queue_policy(settings)
    return LeasePolicy(settings.silent_seconds, policy.max_attempts, policy.delay)


NIGHT_STEP: TaskKind[ClaimedStep, Fetched | Asked | Judged] = TaskKind(
    name="night_steps",
    table=NightStep,
    message=None,
    run=None,
    load=_load,
    complete=_complete,
    exhausted=_exhausted,
    log_fields=_log_fields,
    policy=_policy,
)
