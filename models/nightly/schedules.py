"""Schedules: what is measured every night, and the baseline."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Connection,
    select,
)

from models.errors import NotFound, UnreadableRow, UnreadableSchedule
from models.schema.column_types import known
from models.schema.nightly import Schedule
from models.schema.states import BaselineKind, PairedTest

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Baseline:
    """The baseline of nightly runs."""

    kind: BaselineKind
    system: str | None = None
    """For a named system."""
    date: str | None = None
    """For a named system, the date (YYYY-MM-DD) of the run whose output is used; None for the latest."""

    def as_json(self) -> dict[str, str]:
        """The stored form."""
        given = {"kind": str(self.kind), "system": self.system, "date": self.date}
        return {key: value for key, value in given.items() if value is not None}

    @classmethod
    def from_json(cls, stored: dict[str, str]) -> Baseline:
        """Read the stored form."""
        return cls(BaselineKind(stored["kind"]), stored.get("system"), stored.get("date"))


@dataclass(frozen=True, slots=True)
class ScheduleInfo:
    """A schedule as a read model, without its secret."""

    id: int
    name: str
    cron: str
    time_zone: str
    source: dict[str, Any]
    test_sets: list[dict[str, Any]]
    metrics: tuple[str, ...]
    replicates: int
    seed: int
    baseline: Baseline
    alpha: float
    correction: str
    test: PairedTest
    minimum_difference: float
    webhook: str | None
    team: str
    active: bool
    next_at: float | None
    created_at: float
    campaign_id: int


def list_schedules(connection: Connection, *, removed: bool = False) -> list[ScheduleInfo]:
    """All schedules by name, including removed ones with `removed`. Unreadable schedules are left out and logged."""
    which = [] if removed else [Schedule.active.is_(True)]
    found = []
    for row in connection.execute(select(*_COLUMNS).where(*which).order_by(Schedule.name)):
        try:
            found.append(_known(row._asdict()))
        except UnreadableSchedule as error:
            log.warning("%s", error)
    return found


def find_schedule(connection: Connection, name: str) -> ScheduleInfo:
    """The schedule with this name, including removed ones.

    Raises
    ------
    NotFound
        If no schedule has this name.
    UnreadableSchedule
        If it cannot be read.
    """
    return read_schedule(connection, find_schedule_id(connection, name))


def find_schedule_id(connection: Connection, name: str) -> int:
    """The id of the schedule with this name, even if it is unreadable.

    Raises
    ------
    NotFound
        If it does not exist, listing the names.
    """
    key = connection.scalar(select(Schedule.id).where(Schedule.name == name))
    if key is not None:
        return int(key)
    names = connection.scalars(select(Schedule.name).where(Schedule.active.is_(True)).order_by(Schedule.name)).all()
    there = f"There are: {', '.join(names)}." if names else "There is none; `steelyard schedule create` creates one."
    raise NotFound(f"There is no schedule {name!r}. {there}")


def read_schedule(connection: Connection, schedule_id: int) -> ScheduleInfo:
    """The schedule with this id.

    Raises
    ------
    NotFound
        If no schedule has this id.
    UnreadableSchedule
        If it cannot be read.
    """
    row = connection.execute(select(*_COLUMNS).where(Schedule.id == schedule_id)).one_or_none()
    if row is None:
        raise NotFound(f"There is no schedule {schedule_id}.")
    return _known(row._asdict())


_COLUMNS = [getattr(Schedule, name) for name in ScheduleInfo.__dataclass_fields__]


def _known(row: dict[str, Any]) -> ScheduleInfo:
    try:
        read = {
            "metrics": tuple(row["metrics"]),
            "baseline": Baseline.from_json(row["baseline"]),
            "test": known(row["test"], "The test"),
        }
    except (AttributeError, KeyError, TypeError, ValueError, UnreadableRow) as error:
        raise UnreadableSchedule(
            f'The schedule "{row["name"]}" was written by another release, or by hand: {error}. Remove it by '
            f"`steelyard schedule delete {row['name']}` and add it again."
        ) from error
    return ScheduleInfo(**{**row, **read})
