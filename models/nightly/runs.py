"""Nights: one run of a schedule each, with what it measured and what came of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Connection,
    and_,
    case,
    func,
    select,
)

from models.errors import NotFound
from models.schema.campaigns import CampaignTestSet, called_there
from models.schema.column_types import UNREADABLE, readable
from models.schema.corpus import Protocol, Submission
from models.schema.nightly import Night, NightEvaluation
from models.schema.queue import Evaluation
from models.schema.states import OPEN, OPEN_NIGHT_STATES, NightState


@dataclass(frozen=True, slots=True)
class NightInfo:
    """A night as others see it."""

    id: int
    schedule_id: int
    due_at: float
    date: str
    state: NightState
    reason: str | None
    caught_up: bool
    manual: bool
    started_at: float | None
    finished_at: float | None
    verdict: dict[str, Any] | None
    regressed: bool | None


@dataclass(frozen=True, slots=True)
class NightMember:
    """A system on a test set, as a night measured it."""

    evaluation_id: int
    system: str
    protocol_id: int
    test_set: str
    """`NAME`, or `NAME@VERSION` where that is not the first."""
    references: tuple[str, ...]
    """Labels, in order."""


@dataclass(frozen=True, slots=True)
class NightProgress:
    """How far a night has come."""

    date: str
    state: NightState
    evaluations: int
    """That it measures; 0 until its outputs are there."""
    evaluations_done: int

    @property
    def open(self) -> int:
        """Whether it will still change by itself."""
        return int(self.state in OPEN_NIGHT_STATES)


def read_night_progress(connection: Connection, night_id: int) -> NightProgress:
    """How far the night of that id has come. Raises NotFound."""
    night = read_night(connection, night_id)
    states = connection.scalars(
        select(Evaluation.state)
        .join(NightEvaluation, NightEvaluation.evaluation_id == Evaluation.id)
        .where(NightEvaluation.night_id == night_id)
    ).all()
    done = sum(state not in OPEN for state in states)
    return NightProgress(night.date, night.state, len(states), done)


def read_night(connection: Connection, night_id: int) -> NightInfo:
    """The night of that id. Raises NotFound."""
    row = connection.execute(select(*_COLUMNS).where(Night.id == night_id)).one_or_none()
    if row is None:
        raise NotFound(f"There is no night {night_id}.")
    return _known(row)


def list_nights(connection: Connection, schedule_id: int) -> list[NightInfo]:
    """All nights of a schedule, the earliest first."""
    rows = connection.execute(select(*_COLUMNS).where(Night.schedule_id == schedule_id).order_by(Night.due_at))
    return [_known(row) for row in rows]


@dataclass(frozen=True, slots=True)
class NightCount:
    """How many nights a schedule has, and the last one that has begun."""

    count: int = 0
    last: NightInfo | None = None


def count_nights(connection: Connection, schedules: Collection[int]) -> dict[int, NightCount]:
    """The nights of each of these schedules."""
    begun_at = case((Night.state != NightState.DUE, Night.due_at))
    counted = (
        select(Night.schedule_id.label("schedule"), func.count().label("nights"), func.max(begun_at).label("begun_at"))
        .where(Night.schedule_id.in_(schedules))
        .group_by(Night.schedule_id)
        .subquery()
    )
    last = and_(Night.schedule_id == counted.c.schedule, Night.due_at == counted.c.begun_at)
    rows = connection.execute(select(counted, *_COLUMNS).outerjoin(Night, last))
    found = {row.schedule: NightCount(row.nights, None if row.id is None else _known(row)) for row in rows}
    return {schedule: found.get(schedule, NightCount()) for schedule in schedules}


def night_members(connection: Connection, nights: Sequence[int]) -> dict[int, list[NightMember]]:
    """What each of these nights measured, in the order of test sets and then systems' names."""
    found: dict[int, list[NightMember]] = {night: [] for night in nights}
    rows = connection.execute(
        select(
            NightEvaluation.night_id,
            NightEvaluation.evaluation_id,
            NightEvaluation.system,
            Evaluation.protocol_id,
            Protocol.reference_labels,
            CampaignTestSet.name,
            CampaignTestSet.version,
        )
        .join(Evaluation, Evaluation.id == NightEvaluation.evaluation_id)
        .join(Protocol, Protocol.id == Evaluation.protocol_id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .join(CampaignTestSet, called_there(Submission.campaign_id, Submission.test_set_id))
        .where(NightEvaluation.night_id.in_(nights))
        .order_by(NightEvaluation.night_id, Protocol.id, NightEvaluation.system)
    )
    for row in rows:
        found[row.night_id].append(
            NightMember(
                evaluation_id=row.evaluation_id,
                system=row.system,
                protocol_id=row.protocol_id,
                test_set=row.name if row.version == "1" else f"{row.name}@{row.version}",
                references=tuple(readable(row.reference_labels, UNREADABLE)),
            )
        )
    return found


_COLUMNS = [getattr(Night, name) for name in NightInfo.__dataclass_fields__]


def _known(row: Any) -> NightInfo:
    return NightInfo(**{name: getattr(row, name) for name in NightInfo.__dataclass_fields__})
