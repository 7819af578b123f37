"""Schedules: what is measured every night, and against what."""

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
    """What a night is compared with."""

    kind: BaselineKind
    system: str | None = None
    """Of a named one."""
    night: str | None = None
    """Of a named one the date (YYYY-MM-DD) of the night whose output is meant; None means the latest there is."""

    def as_json(self) -> dict[str, str]:
        """As it is stored."""
        given = {"kind": str(self.kind), "system": self.system, "night": self.night}
        return {key: value for key, value in given.items() if value is not None}

    @classmethod
    def from_json(cls, stored: dict[str, str]) -> Baseline:
        """As it was stored."""
        return cls(BaselineKind(stored["kind"]), stored.get("system"), stored.get("night"))


@dataclass(frozen=True, slots=True)
class ScheduleInfo:
    """A schedule as others see it: all but the secret."""

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
    """All schedules by name; with `removed` those too that were removed. What cannot be read is left out and logged."""
    which = [] if removed else [Schedule.active.is_(True)]
    found = []
    for row in connection.execute(select(*_COLUMNS).where(*which).order_by(Schedule.name)):
        try:
            found.append(_known(row._asdict()))
        except UnreadableSchedule as error:
            log.warning("%s", error)
    return found


def find_schedule(connection: Connection, name: str) -> ScheduleInfo:
    """The schedule of that name, also one that was removed. Raises NotFound and UnreadableSchedule."""
    return read_schedule(connection, find_schedule_id(connection, name))


def find_schedule_id(connection: Connection, name: str) -> int:
    """The number of the schedule of that name, whatever it holds. Raises NotFound with the names that there are."""
    key = connection.scalar(select(Schedule.id).where(Schedule.name == name))
    if key is not None:
        return int(key)
    names = connection.scalars(select(Schedule.name).where(Schedule.active.is_(True)).order_by(Schedule.name)).all()
    there = f"There are: {', '.join(names)}." if names else "There is none; `steelyard nightly add` makes one."
    raise NotFound(f"There is no schedule {name!r}. {there}")


def read_schedule(connection: Connection, schedule_id: int) -> ScheduleInfo:
    """The schedule of that id. Raises NotFound and UnreadableSchedule."""
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
            f"`steelyard nightly remove {row['name']}` and add it again."
        ) from error
    return ScheduleInfo(**{**row, **read})
