"""Nights: one run of a schedule each, with what it measured and what came of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Connection,
    ForeignKey,
    Index,
    Integer,
    String,
    UniqueConstraint,
    and_,
    case,
    false,
    func,
    select,
    text,
)
from sqlalchemy import Text as LongString
from sqlalchemy.orm import Mapped, mapped_column

from models.base import Base, Key, Seconds, now
from models.campaign import CampaignTestSet, called_there
from models.errors import NotFound
from models.evaluation import Evaluation
from models.lease import Leased, lease_indexes
from models.protocol import Protocol
from models.states import OPEN, OPEN_NIGHT_STATES, LeaseState, NightState, one_of
from models.submission import Submission

OPEN_NIGHTS = text("state IN ('due', 'fetching', 'scoring', 'judging')")


class Night(Base):
    """One run of a schedule. `due -> fetching -> scoring -> judging -> done`, or `failed`, or `missed`."""

    __tablename__ = "night"
    __table_args__ = (
        # Two schedulers that plan at once plan one night.
        UniqueConstraint("schedule_id", "due_at"),
        CheckConstraint(one_of("state", NightState), name="state"),
        Index("ix_night_open", "schedule_id", postgresql_where=OPEN_NIGHTS, sqlite_where=OPEN_NIGHTS),
    )

    id: Mapped[Key]
    schedule_id: Mapped[int] = mapped_column(ForeignKey("schedule.id", ondelete="CASCADE"))
    due_at: Mapped[Seconds]
    """When it was planned for; nights of a schedule come in this order."""
    date: Mapped[str] = mapped_column(String(10))
    """The day of it in the schedule's time zone, YYYY-MM-DD."""
    state: Mapped[str] = mapped_column(String(16), default=NightState.DUE)
    reason: Mapped[str | None] = mapped_column(LongString)
    """Why it failed or was missed."""
    caught_up: Mapped[bool] = mapped_column(Boolean, server_default=false(), default=False)
    """Whether it began late, because no scheduler ran when it was due."""
    manual: Mapped[bool] = mapped_column(Boolean, server_default=false(), default=False)
    """Whether somebody asked for it by hand."""
    owner: Mapped[str | None] = mapped_column(String(100))
    """The fencing token of whoever works on its step."""
    worker: Mapped[str | None] = mapped_column(String(200))
    lease_until: Mapped[Seconds | None]
    attempts: Mapped[int] = mapped_column(Integer, server_default="0", default=0)
    """Of the step that it is in, counted at the claim."""
    not_before: Mapped[Seconds] = mapped_column(server_default="0", default=0.0)
    created_at: Mapped[Seconds] = mapped_column(default=now())
    started_at: Mapped[Seconds | None]
    finished_at: Mapped[Seconds | None]
    comparisons: Mapped[list[int] | None] = mapped_column(JSON(none_as_null=True))
    """Comparisons that it waits for before it can be judged by randomization tests."""
    verdict: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    """What was found (`analysis.nights.Verdict.as_json`); None until it was judged."""
    regressed: Mapped[bool | None] = mapped_column(Boolean)
    """Whether a system is significantly worse than its baseline; None until it was judged."""


class NightEvaluation(Base):
    """An evaluation that a night measured, perhaps one that an earlier night had made of the same output."""

    __tablename__ = "night_evaluation"
    __table_args__ = (Index(None, "evaluation_id"),)

    night_id: Mapped[int] = mapped_column(ForeignKey("night.id", ondelete="CASCADE"), primary_key=True)
    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluation.id", ondelete="CASCADE"), primary_key=True)
    system: Mapped[str] = mapped_column(String(200))


class Delivery(Leased, Base):
    """A message about a night that ended, for the webhook of its schedule."""

    __tablename__ = "delivery"
    __table_args__ = (
        UniqueConstraint("night_id"),
        CheckConstraint(one_of("state", LeaseState), name="state"),
        *lease_indexes("delivery"),
    )

    night_id: Mapped[int] = mapped_column(ForeignKey("night.id", ondelete="CASCADE"))


@dataclass(frozen=True, slots=True)
class KnownNight:
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


def read_night(connection: Connection, night_id: int) -> KnownNight:
    """The night of that id. Raises NotFound."""
    row = connection.execute(select(*_COLUMNS).where(Night.id == night_id)).one_or_none()
    if row is None:
        raise NotFound(f"There is no night {night_id}.")
    return _known(row)


def list_nights(connection: Connection, schedule_id: int) -> list[KnownNight]:
    """All nights of a schedule, the earliest first."""
    rows = connection.execute(select(*_COLUMNS).where(Night.schedule_id == schedule_id).order_by(Night.due_at))
    return [_known(row) for row in rows]


@dataclass(frozen=True, slots=True)
class Nights:
    """How many nights a schedule has, and the last one that has begun."""

    count: int = 0
    last: KnownNight | None = None


def count_nights(connection: Connection, schedules: Collection[int]) -> dict[int, Nights]:
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
    found = {row.schedule: Nights(row.nights, None if row.id is None else _known(row)) for row in rows}
    return {schedule: found.get(schedule, Nights()) for schedule in schedules}


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
                references=tuple(row.reference_labels),
            )
        )
    return found


_COLUMNS = [getattr(Night, name) for name in KnownNight.__dataclass_fields__]


def _known(row: Any) -> KnownNight:
    values = {name: getattr(row, name) for name in KnownNight.__dataclass_fields__}
    return KnownNight(**{**values, "state": NightState(row.state)})
