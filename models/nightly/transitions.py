"""The state machine of nightly runs: each is planned once, run one at a time, and ended once.

Every transition is one conditional UPDATE whose row count says whether it took place. The work of a state is a task
(`models.queue.kinds.nightly_run_steps`), which the transition adds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Update, and_, exists, insert, or_, select, update

from models.database.upsert import insert_ignore
from models.schema.base import now
from models.schema.declarative import aliased
from models.schema.nightly import Delivery, NightlyRun, NightlyRunEvaluation, NightlyRunStep, Schedule
from models.schema.states import IN_FLIGHT, LeaseState, NightlyRunState, QueueClass

BEGUN = (NightlyRunState.FETCHING, NightlyRunState.SCORING, NightlyRunState.JUDGING)


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run that is due, or that was missed."""

    due_at: float
    date: str
    caught_up: bool = False
    missed: str | None = None
    """Why it was missed; None for a run that is due."""


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run whose next transition may be possible."""

    id: int
    schedule_id: int
    state: NightlyRunState


def plan_runs(connection: Connection, schedule_id: int, nightly_runs: Sequence[PlannedRun], moment: float) -> None:
    """Add runs; those that another scheduler has planned are unchanged. `moment` is the time on its clock.

    Earlier planned runs that have not begun are marked as missed: only the last one is worth running.
    """
    if not nightly_runs:
        return
    connection.execute(
        update(NightlyRun)
        .where(
            NightlyRun.schedule_id == schedule_id,
            NightlyRun.state == NightlyRunState.DUE,
            NightlyRun.manual.is_(False),
            NightlyRun.due_at < max(each.due_at for each in nightly_runs),
        )
        .values(state=NightlyRunState.MISSED, reason="It had not begun when the next run was due.", finished_at=now())
    )
    missed = [_row(schedule_id, each, moment) for each in nightly_runs if each.missed is not None]
    due = [_row(schedule_id, each, moment) for each in nightly_runs if each.missed is None]
    insert_ignore(connection, NightlyRun, missed)
    insert_ignore(connection, NightlyRun, due)


def _row(schedule_id: int, nightly_run: PlannedRun, moment: float) -> dict[str, Any]:
    row = {
        "schedule_id": schedule_id,
        "due_at": nightly_run.due_at,
        "date": nightly_run.date,
        "caught_up": nightly_run.caught_up,
    }
    if nightly_run.missed is None:
        return {**row, "state": NightlyRunState.DUE}
    return {**row, "state": NightlyRunState.MISSED, "reason": nightly_run.missed, "finished_at": moment}


def add_manual_run(connection: Connection, schedule_id: int, due_at: float, date: str) -> int:
    """Add a manual run, at the first free second from `due_at` on; its id."""
    connection.execute(select(Schedule.id).where(Schedule.id == schedule_id).with_for_update())
    taken = set(connection.scalars(select(NightlyRun.due_at).where(NightlyRun.schedule_id == schedule_id)))
    while due_at in taken:
        due_at += 1.0
    row = {"schedule_id": schedule_id, "due_at": due_at, "date": date, "manual": True}
    return connection.execute(insert(NightlyRun).values(row).returning(NightlyRun.id)).scalar_one()


def find_open_runs(connection: Connection, only: int | None = None) -> list[OpenRun]:
    """Runs that are due and those that wait for scores, the earliest of each schedule first.

    Runs that wait for another run of their schedule are left out. With `only`, none but this run, and those of its
    schedule that it waits for.
    """
    other = aliased(NightlyRun)
    before = exists().where(
        other.schedule_id == NightlyRun.schedule_id,
        or_(
            other.state.in_(BEGUN),
            and_(other.state == NightlyRunState.DUE, other.due_at < NightlyRun.due_at, NightlyRun.manual.is_(False)),
        ),
    )
    which = or_(NightlyRun.state == NightlyRunState.SCORING, and_(NightlyRun.state == NightlyRunState.DUE, ~before))
    chosen = (
        select(NightlyRun.id, NightlyRun.schedule_id, NightlyRun.state)
        .where(which)
        .order_by(NightlyRun.due_at, NightlyRun.id)
    )
    if only is not None:
        schedule = select(other.schedule_id).where(other.id == only).scalar_subquery()
        chosen = chosen.where(
            or_(NightlyRun.id == only, and_(NightlyRun.schedule_id == schedule, NightlyRun.state.in_(BEGUN)))
        )
    return [OpenRun(row.id, row.schedule_id, row.state) for row in connection.execute(chosen)]


def begin_run(connection: Connection, nightly_run: OpenRun) -> bool:
    """From due to fetching; False if that has happened, or another run of the schedule has begun."""
    # Two runs of a schedule must not begin at the same time.
    connection.execute(select(Schedule.id).where(Schedule.id == nightly_run.schedule_id).with_for_update())
    other = aliased(NightlyRun)
    begun = (
        update(NightlyRun)
        .where(
            NightlyRun.id == nightly_run.id,
            NightlyRun.state == NightlyRunState.DUE,
            ~exists().where(other.schedule_id == nightly_run.schedule_id, other.state.in_(BEGUN)),
        )
        .values(state=NightlyRunState.FETCHING, started_at=now())
    )
    return _move(connection, nightly_run.id, begun, step=True)


def begin_scoring(connection: Connection, nightly_run_id: int, members: Sequence[tuple[int, str]]) -> bool:
    """From fetching to scoring, in the transaction that stores the run's members: (evaluation, system)."""
    moved = update(NightlyRun).where(NightlyRun.id == nightly_run_id, NightlyRun.state == NightlyRunState.FETCHING)
    if not _move(connection, nightly_run_id, moved.values(state=NightlyRunState.SCORING), step=False):
        return False
    rows = [
        {"nightly_run_id": nightly_run_id, "evaluation_id": key, "system": system} for key, system in sorted(members)
    ]
    insert_ignore(connection, NightlyRunEvaluation, rows)
    return True


def begin_judging(connection: Connection, nightly_run_id: int) -> bool:
    """From scoring to judging; False if that has happened."""
    moved = update(NightlyRun).where(NightlyRun.id == nightly_run_id, NightlyRun.state == NightlyRunState.SCORING)
    return _move(connection, nightly_run_id, moved.values(state=NightlyRunState.JUDGING), step=True)


def await_comparisons(connection: Connection, nightly_run_id: int, comparisons: Sequence[int]) -> bool:
    """Let a run be judged once these comparisons have ended."""
    waiting = update(NightlyRun).where(NightlyRun.id == nightly_run_id, NightlyRun.state == NightlyRunState.JUDGING)
    return _move(connection, nightly_run_id, waiting.values(comparisons=list(comparisons)), step=True)


def finish_run(connection: Connection, nightly_run_id: int, verdict: dict[str, Any], *, regressed: bool) -> bool:
    """Store the verdict and end a judged run."""
    done = update(NightlyRun).where(NightlyRun.id == nightly_run_id, NightlyRun.state == NightlyRunState.JUDGING)
    return _end(
        connection, nightly_run_id, done, state=NightlyRunState.DONE, reason=None, verdict=verdict, regressed=regressed
    )


def fail_run(connection: Connection, nightly_run_id: int, state: NightlyRunState, reason: str) -> bool:
    """Fail a run that cannot be completed, if it is still in that state; any step in progress is discarded."""
    # The lock order of those who end a step.
    connection.execute(
        select(NightlyRunStep.id).where(NightlyRunStep.nightly_run_id == nightly_run_id, _open_step()).with_for_update()
    )
    failed = update(NightlyRun).where(NightlyRun.id == nightly_run_id, NightlyRun.state == state)
    if not _end(connection, nightly_run_id, failed, state=NightlyRunState.FAILED, reason=reason):
        return False
    connection.execute(
        update(NightlyRunStep)
        .where(NightlyRunStep.nightly_run_id == nightly_run_id, _open_step())
        .values(state=LeaseState.CANCELLED, owner=None, lease_until=None, ended_at=now())
    )
    return True


def cancel_due_runs(connection: Connection, schedule_id: int, reason: str) -> None:
    """End the runs of a schedule that have not begun."""
    connection.execute(
        update(NightlyRun)
        .where(NightlyRun.schedule_id == schedule_id, NightlyRun.state == NightlyRunState.DUE)
        .values(state=NightlyRunState.MISSED, reason=reason, finished_at=now())
    )


def _open_step() -> ColumnElement[bool]:
    return or_(NightlyRunStep.state == LeaseState.PENDING, NightlyRunStep.state.in_(IN_FLIGHT))


def _move(connection: Connection, nightly_run_id: int, moving: Update, *, step: bool) -> bool:
    """Change a run, and add its next step, if any."""
    if connection.execute(moving).rowcount != 1:
        return False
    if step:
        team = (
            select(Schedule.team)
            .join(NightlyRun, NightlyRun.schedule_id == Schedule.id)
            .where(NightlyRun.id == nightly_run_id)
        )
        row = {"nightly_run_id": nightly_run_id, "team": team.scalar_subquery(), "queue_class": int(QueueClass.NIGHTLY)}
        connection.execute(insert(NightlyRunStep).values(row))
    return True


def _end(connection: Connection, nightly_run_id: int, ending: Update, **values: Any) -> bool:
    """End a run, and add a delivery for its schedule's webhook, if any."""
    if connection.execute(ending.values(**values, finished_at=now())).rowcount != 1:
        return False
    hooked = connection.execute(
        select(Schedule.team)
        .join(NightlyRun, NightlyRun.schedule_id == Schedule.id)
        .where(NightlyRun.id == nightly_run_id, Schedule.webhook.is_not(None))
    ).one_or_none()
    if hooked is not None:
        row = {"nightly_run_id": nightly_run_id, "team": hooked.team, "queue_class": int(QueueClass.NIGHTLY)}
        insert_ignore(connection, Delivery, [row])
    return True
