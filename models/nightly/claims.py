"""The state machine of nights: planned once, held by one scheduler at a time, ended once.

As everywhere, each change is one conditional UPDATE whose row count says who won, and `owner` is a fencing token: a
scheduler that comes back late finds nothing to change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Update, and_, exists, insert, or_, select, update
from sqlalchemy.orm import aliased

from models.database.upsert import insert_if_absent
from models.schema.base import now
from models.schema.nightly import Delivery, Night, NightEvaluation, Schedule
from models.schema.states import NightState, QueueClass

LONGEST_WAIT = 3600.0
"""Nothing holds a night, or has it wait for another try, for so long: then the clock was set back meanwhile."""

HELD = (NightState.FETCHING, NightState.JUDGING)
"""States in which somebody works on a night."""
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
    """A night that somebody could go on with."""

    id: int
    schedule_id: int
    state: NightState
    attempts: int
    comparisons: tuple[int, ...] | None


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
    insert_if_absent(connection, Night, missed)
    insert_if_absent(connection, Night, due)


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
    """Nights that could be gone on with now, the earliest of each schedule first.

    Not those that somebody holds, nor those that wait for another night of their schedule or for their next attempt.
    With `only` none but this night, and those of its schedule that began and that it waits for.
    """
    other = aliased(Night)
    before = exists().where(
        other.schedule_id == Night.schedule_id,
        or_(
            other.state.in_(BEGUN),
            and_(other.state == NightState.DUE, other.due_at < Night.due_at, Night.manual.is_(False)),
        ),
    )
    which = or_(
        Night.state == NightState.SCORING,
        and_(Night.state == NightState.DUE, ~before),
        and_(Night.state.in_(HELD), _free()),
    )
    chosen = (
        select(Night.id, Night.schedule_id, Night.state, Night.attempts, Night.comparisons)
        .where(which, or_(Night.not_before <= now(), Night.not_before > now() + LONGEST_WAIT))
        .order_by(Night.due_at, Night.id)
    )
    if only is not None:
        schedule = select(other.schedule_id).where(other.id == only).scalar_subquery()
        chosen = chosen.where(or_(Night.id == only, and_(Night.schedule_id == schedule, Night.state.in_(BEGUN))))
    rows = connection.execute(chosen)
    return [
        OpenNight(
            row.id,
            row.schedule_id,
            NightState(row.state),
            row.attempts,
            None if row.comparisons is None else tuple(row.comparisons),
        )
        for row in rows
    ]


def claim_night(connection: Connection, night: OpenNight, owner: str, worker: str, lease_seconds: float) -> bool:
    """Try to become the one who works on this night, as it was seen; True when it worked.

    One that was due begins with it: its outputs are to be fetched.
    """
    # Two nights of a schedule must not begin at once, whoever begins them.
    connection.execute(select(Schedule.id).where(Schedule.id == night.schedule_id).with_for_update())
    which = [Night.id == night.id, Night.state == night.state, _free()]
    if night.state == NightState.DUE:
        other = aliased(Night)
        which.append(~exists().where(other.schedule_id == night.schedule_id, other.state.in_(BEGUN)))
    values: dict[str, Any] = {
        "owner": owner,
        "worker": worker,
        "lease_until": now() + lease_seconds,
        "attempts": Night.attempts + 1,
    }
    if night.state == NightState.DUE:
        values |= {"state": NightState.FETCHING, "started_at": now()}
    return connection.execute(update(Night).where(*which).values(values)).rowcount == 1


def renew(connection: Connection, night_id: int, owner: str, lease_seconds: float) -> bool:
    """Hold a night for longer; False when it is somebody else's by now."""
    return connection.execute(_held(night_id, owner).values(lease_until=now() + lease_seconds)).rowcount == 1


def begin_scoring(connection: Connection, night_id: int, owner: str) -> bool:
    """From fetching to scoring, if `owner` still holds it: in the transaction that stores what it measures."""
    moved = _held(night_id, owner).where(Night.state == NightState.FETCHING)
    return connection.execute(moved.values(state=NightState.SCORING, **_FREE, attempts=0, reason=None)).rowcount == 1


def add_members(connection: Connection, night_id: int, members: Sequence[tuple[int, str]]) -> None:
    """Say what a night measures: (evaluation, system)."""
    rows = [{"night_id": night_id, "evaluation_id": key, "system": system} for key, system in sorted(members)]
    insert_if_absent(connection, NightEvaluation, rows)


def begin_judging(connection: Connection, night_id: int) -> bool:
    """From scoring to judging, whoever sees it first."""
    moved = update(Night).where(Night.id == night_id, Night.state == NightState.SCORING)
    return connection.execute(moved.values(state=NightState.JUDGING, **_FREE, attempts=0)).rowcount == 1


def wait_for_comparisons(connection: Connection, night_id: int, owner: str, comparisons: Sequence[int]) -> bool:
    """Let go of a night until these comparisons have ended; the attempt does not count."""
    waiting = _held(night_id, owner).where(Night.state == NightState.JUDGING)
    values = {"comparisons": list(comparisons), **_FREE, "attempts": Night.attempts - 1}
    return connection.execute(waiting.values(values)).rowcount == 1


def put_back_night(
    connection: Connection, night_id: int, owner: str, reason: str | None, delay_seconds: float, *, used: bool = True
) -> bool:
    """Let somebody else try the same step, `delay_seconds` from now; `used` says if the attempt counts."""
    values = {
        **_FREE,
        "reason": reason,
        "not_before": now() + delay_seconds,
        "attempts": Night.attempts - (0 if used else 1),
    }
    return connection.execute(_held(night_id, owner).values(values)).rowcount == 1


def finish_night(
    connection: Connection, night_id: int, owner: str, verdict: dict[str, Any], *, regressed: bool
) -> bool:
    """Store what was found and end the night, if `owner` still holds it."""
    done = _held(night_id, owner).where(Night.state == NightState.JUDGING)
    return _end(connection, night_id, done, state=NightState.DONE, reason=None, verdict=verdict, regressed=regressed)


def fail_night(connection: Connection, night_id: int, state: NightState, owner: str | None, reason: str) -> bool:
    """End a night that cannot be measured, if it is still in that state and held by `owner` (None: by nobody alive)."""
    free = or_(Night.owner.is_(None), Night.lease_until < now())
    failed = update(Night).where(
        Night.id == night_id, Night.state == state, free if owner is None else Night.owner == owner
    )
    return _end(connection, night_id, failed, state=NightState.FAILED, reason=reason)


def drop_due_nights(connection: Connection, schedule_id: int, reason: str) -> None:
    """End the nights of a schedule that have not begun."""
    connection.execute(
        update(Night)
        .where(Night.schedule_id == schedule_id, Night.state == NightState.DUE)
        .values(state=NightState.MISSED, reason=reason, finished_at=now())
    )


def _free() -> ColumnElement[bool]:
    """Whether nobody alive holds a night."""
    return or_(Night.owner.is_(None), Night.lease_until < now(), Night.lease_until > now() + LONGEST_WAIT)


_FREE: dict[str, Any] = {"owner": None, "worker": None, "lease_until": None}


def _held(night_id: int, owner: str) -> Update:
    return update(Night).where(Night.id == night_id, Night.owner == owner)


def _end(connection: Connection, night_id: int, ending: Update, **values: Any) -> bool:
    """End a night, and leave a message for the webhook of its schedule, if there is one."""
    if connection.execute(ending.values(**values, **_FREE, finished_at=now())).rowcount != 1:
        return False
    hooked = connection.execute(
        select(Schedule.team)
        .join(Night, Night.schedule_id == Schedule.id)
        .where(Night.id == night_id, Schedule.webhook.is_not(None))
    ).one_or_none()
    if hooked is not None:
        row = {"night_id": night_id, "team": hooked.team, "queue_class": int(QueueClass.NIGHTLY)}
        insert_if_absent(connection, Delivery, [row])
    return True
