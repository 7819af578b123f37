"""Plans due runs, each once; of missed runs, only the last one is caught up."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from sqlalchemy import Engine, literal, select, update
from sqlalchemy.exc import DBAPIError

from models.database.session import reading, writing
from models.nightly.transitions import PlannedRun, plan_runs
from models.schema.base import now
from models.schema.nightly import Schedule
from scheduler.errors import BadSchedule
from scheduler.nightly.cron import Calendar

log = logging.getLogger(__name__)

LATE_SECONDS = 60.0
"""Seconds after its due time from which a run counts as caught up."""

MAX_MISSED = 100
"""Limit on missed runs recorded at once for a schedule; only the last ones are."""

MISSED = "No scheduler was running when it was due, and a later run was caught up instead."

_DAY = 86400.0


def plan_due(engine: Engine, moment: float | None = None) -> int:
    """Add the due runs of all schedules; the number of schedules with any.

    `moment` is the current time, usually by the database's clock.
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
            # The other schedules are planned.
            log.exception("Schedule %s cannot be planned", schedule)
    return planned


def _plan(engine: Engine, schedule_id: int, moment: float | None) -> bool:
    by = now() if moment is None else moment
    with writing(engine, durable=True) as connection:
        # A concurrent scheduler waits here, and then finds that the run is no longer due.
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
            nightly_runs = _planned_runs(calendar, found.next_at, at)
            following = calendar.after(at)
        except BadSchedule as error:
            # The time zone may be unknown to this machine, if its database is older.
            day = datetime.fromtimestamp(found.next_at, UTC).date().isoformat()
            nightly_runs = [PlannedRun(found.next_at, day, missed=f"{error} Add the schedule again.")]
            log.error("Schedule %s is not planned any further: %s", found.name, error)
        plan_runs(connection, schedule_id, nightly_runs, at)
        connection.execute(update(Schedule).where(Schedule.id == schedule_id).values(next_at=following))
    for nightly_run in nightly_runs:
        what = f"was missed: {nightly_run.missed}" if nightly_run.missed else "is due"
        log.info("Schedule %s: the run of %s %s", found.name, nightly_run.date, what)
    return True


def correct_plans(engine: Engine, moment: float | None = None) -> int:
    """Replan runs with a wrong due time; the number of schedules.

    The clock was wrong when they were planned, or the rules of a time zone have changed.
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
            # Its next run will report it; the other schedules continue.
            log.debug("Schedule %s cannot be planned: %s", row.name, error)
            continue
        if right is None or right == row.next_at:
            continue
        changed = update(Schedule).where(Schedule.id == row.id, Schedule.next_at == row.next_at).values(next_at=right)
        with writing(engine, durable=True) as connection:
            corrected += connection.execute(changed).rowcount
        log.warning("Schedule %s: its next run had a wrong due time and is replanned.", row.name)
    return corrected


def _planned_runs(calendar: Calendar, first: float, last: float) -> list[PlannedRun]:
    """The runs from one due time to another, both inclusive: the last one is due, the others were missed."""
    moments = _moments(calendar, first, last)
    if len(moments) > MAX_MISSED:
        moments = moments[-MAX_MISSED:]
    dates = [calendar.date(each).isoformat() for each in moments]
    missed = [PlannedRun(each, date, missed=MISSED) for each, date in zip(moments[:-1], dates, strict=False)]
    return [*missed, PlannedRun(moments[-1], dates[-1], caught_up=last - moments[-1] > LATE_SECONDS)]


def _moments(calendar: Calendar, first: float, last: float) -> list[float]:
    """The last due times in an interval, at least those that count, or all."""
    span = _DAY
    while True:
        # The times of a frequent schedule must not be enumerated over a long interval.
        begin = max(first, last - span)
        found: list[float] = [first] if begin == first else []
        at = calendar.after(begin)
        while at is not None and at <= last:
            found.append(at)
            at = calendar.after(at)
        if begin == first or len(found) >= MAX_MISSED:
            return found
        span *= 8
