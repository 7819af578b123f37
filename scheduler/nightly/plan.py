"""Which nights are due: each once, and of those that nobody saw to only the last is caught up."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from sqlalchemy import Engine, literal, select, update
from sqlalchemy.exc import DBAPIError

from models.database.session import reading, writing
from models.nightly.transitions import PlannedNight, plan_nights
from models.schema.base import now
from models.schema.nightly import Schedule
from scheduler.errors import BadSchedule
from scheduler.nightly.cron import Calendar

log = logging.getLogger(__name__)

LATE_SECONDS = 60.0
"""A night that begins later after it was due was caught up."""

MOST_MISSED = 100
"""So many missed nights of a schedule are recorded at once; of more only the last ones."""

MISSED = "No scheduler ran when it was due, and a later night was caught up instead."

_DAY = 86400.0


def plan_due(engine: Engine, moment: float | None = None) -> int:
    """Add the nights of all schedules that are due by now; how many schedules had any.

    `moment` is the time to go by, as a rule that of the database's clock.
    """
    by = now() if moment is None else moment
    with reading(engine) as connection:
        due = list(
            connection.scalars(
                select(Schedule.id).where(Schedule.active.is_(True), Schedule.next_at <= by).order_by(Schedule.id)
            )
        )
    planned = 0
    for schedule in due:
        try:
            planned += _plan(engine, schedule, moment)
        except DBAPIError:
            raise
        except Exception:
            # The nights of all others are planned.
            log.exception("Schedule %s cannot be planned", schedule)
    return planned


def _plan(engine: Engine, schedule_id: int, moment: float | None) -> bool:
    by = now() if moment is None else moment
    with writing(engine, durable=True) as connection:
        # Whoever else plans it waits here, and then finds that it is not due any more.
        found = connection.execute(
            select(Schedule.name, Schedule.cron, Schedule.time_zone, Schedule.next_at, now().label("now"))
            .where(Schedule.id == schedule_id, Schedule.active.is_(True), Schedule.next_at <= by)
            .with_for_update()
        ).one_or_none()
        if found is None:
            return False
        at = found.now if moment is None else moment
        following: float | None = None
        try:
            calendar = Calendar(found.cron, found.time_zone)
            nights = _nights(calendar, found.next_at, at)
            following = calendar.after(at)
        except BadSchedule as error:
            # A list of time zones that is older than that of whoever added the schedule.
            day = datetime.fromtimestamp(found.next_at, UTC).date().isoformat()
            nights = [PlannedNight(found.next_at, day, missed=f"{error} Add the schedule again.")]
            log.error("Schedule %s is not planned any further: %s", found.name, error)
        plan_nights(connection, schedule_id, nights, at)
        connection.execute(update(Schedule).where(Schedule.id == schedule_id).values(next_at=following))
    for night in nights:
        what = f"was missed: {night.missed}" if night.missed else "is due"
        log.info("Schedule %s: the night of %s %s", found.name, night.date, what)
    return True


def correct_plans(engine: Engine, moment: float | None = None) -> int:
    """Plan anew what is planned for another time than it should be; how many schedules that were.

    The clock was wrong when it was planned, or the rules of a time zone have changed since.
    """
    by = now() if moment is None else literal(moment)
    chosen = select(Schedule.id, Schedule.name, Schedule.cron, Schedule.time_zone, Schedule.next_at, by.label("now"))
    with reading(engine) as connection:
        rows = connection.execute(chosen.where(Schedule.active.is_(True), Schedule.next_at > by)).all()
    corrected = 0
    for row in rows:
        try:
            right = Calendar(row.cron, row.time_zone).after(row.now)
        except Exception as error:
            # Its next night will say so, and those of all others are planned.
            log.debug("Schedule %s cannot be planned: %s", row.name, error)
            continue
        if right is None or right == row.next_at:
            continue
        changed = update(Schedule).where(Schedule.id == row.id, Schedule.next_at == row.next_at).values(next_at=right)
        with writing(engine, durable=True) as connection:
            corrected += connection.execute(changed).rowcount
        log.warning("Schedule %s: its next night was planned for another time and is planned anew.", row.name)
    return corrected


def _nights(calendar: Calendar, first: float, last: float) -> list[PlannedNight]:
    """The nights from a moment that is one to another, both inclusive: the last is due, the others were missed."""
    moments = _moments(calendar, first, last)
    if len(moments) > MOST_MISSED:
        moments = moments[-MOST_MISSED:]
    dates = [calendar.date(each).isoformat() for each in moments]
    missed = [PlannedNight(each, date, missed=MISSED) for each, date in zip(moments[:-1], dates, strict=False)]
    return [*missed, PlannedNight(moments[-1], dates[-1], caught_up=last - moments[-1] > LATE_SECONDS)]


def _moments(calendar: Calendar, first: float, last: float) -> list[float]:
    """The last moments of a stretch of time, at least so many as count, or all."""
    span = _DAY
    while True:
        # A schedule of every minute that slept for a year must not be counted from its beginning.
        begin = max(first, last - span)
        found: list[float] = [first] if begin == first else []
        at = calendar.after(begin)
        while at is not None and at <= last:
            found.append(at)
            at = calendar.after(at)
        if begin == first or len(found) >= MOST_MISSED:
            return found
        span *= 8
