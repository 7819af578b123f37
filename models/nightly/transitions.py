"""The state machine of nights: planned once, begun one at a time, ended once.

As everywhere, each change is one conditional UPDATE whose row count says who won. What is to be done in a state is a
task (`models.queue.kinds.night_steps`), which a transition adds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Update, and_, exists, insert, or_, select, update
from sqlalchemy.orm import aliased

from models.database.upsert import insert_ignore
from models.schema.base import now
from models.schema.nightly import Delivery, Night, NightEvaluation, NightStep, Schedule
from models.schema.states import IN_FLIGHT, LeaseState, NightState, QueueClass

BEGUN = (NightState.FETCHING, NightState.SCORING, NightState.JUDGING)


@dataclass(frozen=True, slots=True)
class PlannedNight:
    """A night that is to come, or that nobody saw to when it was due."""

    due_at: float
    date: str
    caught_up: bool = False
    missed: str | None = None
    """Why nobody will see to it."""


@dataclass(frozen=True, slots=True)
class OpenNight:
    """A night that whoever sees it could move on."""

    id: int
    schedule_id: int
    state: NightState


def plan_nights(connection: Connection, schedule_id: int, nights: Sequence[PlannedNight], moment: float) -> None:
    """Add nights; those that another scheduler has planned stay as they are. `moment` is the time on its clock.

    Nights that were planned before and have not begun are missed: of those that wait only the last is worth the work.
    """
    if not nights:
        return
    connection.execute(
        update(Night)
        .where(
            Night.schedule_id == schedule_id,
            Night.state == NightState.DUE,
            Night.manual.is_(False),
            Night.due_at < max(each.due_at for each in nights),
        )
        .values(state=NightState.MISSED, reason="It had not begun when the next night was due.", finished_at=now())
    )
    missed = [_row(schedule_id, each, moment) for each in nights if each.missed is not None]
    due = [_row(schedule_id, each, moment) for each in nights if each.missed is None]
    insert_ignore(connection, Night, missed)
    insert_ignore(connection, Night, due)


def _row(schedule_id: int, night: PlannedNight, moment: float) -> dict[str, Any]:
    row = {"schedule_id": schedule_id, "due_at": night.due_at, "date": night.date, "caught_up": night.caught_up}
    if night.missed is None:
        return {**row, "state": NightState.DUE}
    return {**row, "state": NightState.MISSED, "reason": night.missed, "finished_at": moment}


def add_manual_night(connection: Connection, schedule_id: int, due_at: float, date: str) -> int:
    """Add a night that somebody asks for by hand; where that moment is taken, a second later, and so on. Its id."""
    connection.execute(select(Schedule.id).where(Schedule.id == schedule_id).with_for_update())
    taken = set(connection.scalars(select(Night.due_at).where(Night.schedule_id == schedule_id)))
    while due_at in taken:
        due_at += 1.0
    row = {"schedule_id": schedule_id, "due_at": due_at, "date": date, "manual": True}
    return connection.execute(insert(Night).values(row).returning(Night.id)).scalar_one()


def open_nights(connection: Connection, only: int | None = None) -> list[OpenNight]:
    """Nights that are due and those that wait for scores, the earliest of each schedule first.

    Not those that wait for another night of their schedule. With `only` none but this night, and those of its schedule
    that began and that it waits for.
    """
    other = aliased(Night)
    before = exists().where(
        other.schedule_id == Night.schedule_id,
        or_(
            other.state.in_(BEGUN),
            and_(other.state == NightState.DUE, other.due_at < Night.due_at, Night.manual.is_(False)),
        ),
    )
    which = or_(Night.state == NightState.SCORING, and_(Night.state == NightState.DUE, ~before))
    chosen = select(Night.id, Night.schedule_id, Night.state).where(which).order_by(Night.due_at, Night.id)
    if only is not None:
        schedule = select(other.schedule_id).where(other.id == only).scalar_subquery()
        chosen = chosen.where(or_(Night.id == only, and_(Night.schedule_id == schedule, Night.state.in_(BEGUN))))
    return [OpenNight(row.id, row.schedule_id, row.state) for row in connection.execute(chosen)]


def begin_night(connection: Connection, night: OpenNight) -> bool:
    """From due to fetching; False where that has been done, or another night of the schedule has begun."""
    # Two nights of a schedule must not begin at once, whoever begins them.
    connection.execute(select(Schedule.id).where(Schedule.id == night.schedule_id).with_for_update())
    other = aliased(Night)
    begun = (
        update(Night)
        .where(
            Night.id == night.id,
            Night.state == NightState.DUE,
            ~exists().where(other.schedule_id == night.schedule_id, other.state.in_(BEGUN)),
        )
        .values(state=NightState.FETCHING, started_at=now())
    )
    return _move(connection, night.id, begun, step=True)


def begin_scoring(connection: Connection, night_id: int, members: Sequence[tuple[int, str]]) -> bool:
    """From fetching to scoring, in the transaction that stores what it measures: (evaluation, system)."""
    moved = update(Night).where(Night.id == night_id, Night.state == NightState.FETCHING)
    if not _move(connection, night_id, moved.values(state=NightState.SCORING), step=False):
        return False
    rows = [{"night_id": night_id, "evaluation_id": key, "system": system} for key, system in sorted(members)]
    insert_ignore(connection, NightEvaluation, rows)
    return True


def begin_judging(connection: Connection, night_id: int) -> bool:
    """From scoring to judging, whoever sees it first."""
    moved = update(Night).where(Night.id == night_id, Night.state == NightState.SCORING)
    return _move(connection, night_id, moved.values(state=NightState.JUDGING), step=True)


def await_comparisons(connection: Connection, night_id: int, comparisons: Sequence[int]) -> bool:
    """Let a night be judged when these comparisons have ended."""
    waiting = update(Night).where(Night.id == night_id, Night.state == NightState.JUDGING)
    return _move(connection, night_id, waiting.values(comparisons=list(comparisons)), step=True)


def finish_night(connection: Connection, night_id: int, verdict: dict[str, Any], *, regressed: bool) -> bool:
    """Store what was found and end a night that is judged."""
    done = update(Night).where(Night.id == night_id, Night.state == NightState.JUDGING)
    return _end(connection, night_id, done, state=NightState.DONE, reason=None, verdict=verdict, regressed=regressed)


def fail_night(connection: Connection, night_id: int, state: NightState, reason: str) -> bool:
    """End a night that cannot be measured, if it is still in that state; whoever works on it does so in vain."""
    # In the order in which those who end a step lock both.
    connection.execute(select(NightStep.id).where(NightStep.night_id == night_id, _open_step()).with_for_update())
    failed = update(Night).where(Night.id == night_id, Night.state == state)
    if not _end(connection, night_id, failed, state=NightState.FAILED, reason=reason):
        return False
    connection.execute(
        update(NightStep)
        .where(NightStep.night_id == night_id, _open_step())
        .values(state=LeaseState.CANCELLED, owner=None, lease_until=None, ended_at=now())
    )
    return True


def drop_due_nights(connection: Connection, schedule_id: int, reason: str) -> None:
    """End the nights of a schedule that have not begun."""
    connection.execute(
        update(Night)
        .where(Night.schedule_id == schedule_id, Night.state == NightState.DUE)
        .values(state=NightState.MISSED, reason=reason, finished_at=now())
    )


def _open_step() -> ColumnElement[bool]:
    return or_(NightStep.state == LeaseState.PENDING, NightStep.state.in_(IN_FLIGHT))


def _move(connection: Connection, night_id: int, moving: Update, *, step: bool) -> bool:
    """Change a night, and add what is to be done for it, if there is."""
    if connection.execute(moving).rowcount != 1:
        return False
    if step:
        team = select(Schedule.team).join(Night, Night.schedule_id == Schedule.id).where(Night.id == night_id)
        row = {"night_id": night_id, "team": team.scalar_subquery(), "queue_class": int(QueueClass.NIGHTLY)}
        connection.execute(insert(NightStep).values(row))
    return True


def _end(connection: Connection, night_id: int, ending: Update, **values: Any) -> bool:
    """End a night, and leave a message for the webhook of its schedule, if there is one."""
    if connection.execute(ending.values(**values, finished_at=now())).rowcount != 1:
        return False
    hooked = connection.execute(
        select(Schedule.team)
        .join(Night, Night.schedule_id == Schedule.id)
        .where(Night.id == night_id, Schedule.webhook.is_not(None))
    ).one_or_none()
    if hooked is not None:
        row = {"night_id": night_id, "team": hooked.team, "queue_class": int(QueueClass.NIGHTLY)}
        insert_ignore(connection, Delivery, [row])
    return True
