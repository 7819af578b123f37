"""Tables of schedules, their scheduled runs, and the webhook deliveries that tell of them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Double,
    ForeignKey,
    Index,
    Integer,
    String,
    UniqueConstraint,
    false,
    text,
    true,
)
from sqlalchemy import Text as LongString
from sqlalchemy.orm import Mapped, mapped_column

from models.schema.base import Base, Key, Seconds, now
from models.schema.column_types import OneOf, Shaped
from models.schema.queue import Leased, lease_indexes
from models.schema.states import LeaseState, NightState, PairedTest, one_of


class Schedule(Base):
    """Systems' outputs that are fetched, scored and compared with a baseline again and again, by the calendar."""

    __tablename__ = "schedule"
    __table_args__ = (
        CheckConstraint(one_of("test", PairedTest), name="test"),
        Index("ix_schedule_next_at", "next_at", postgresql_where=text("active"), sqlite_where=text("active")),
    )

    id: Mapped[Key]
    name: Mapped[str] = mapped_column(String(200), unique=True)
    cron: Mapped[str] = mapped_column(String(200))
    """When: a cron expression, in `time_zone`."""
    time_zone: Mapped[str] = mapped_column(String(100))
    """A name of the IANA database."""
    source: Mapped[dict[str, Any]] = mapped_column(Shaped(dict[str, Any], "The source of a schedule"))
    """Where outputs come from: {"kind": "folder", "pattern"}, or {"kind": "command", "command", "pattern", "seconds"}:
    a command with a time limit that writes what the pattern finds."""
    test_sets: Mapped[list[dict[str, Any]]] = mapped_column(Shaped(list[dict[str, Any]], "The test sets of a schedule"))
    """A list of {"test_set_id", "references"}, the references by label and in order."""
    metrics: Mapped[list[str]] = mapped_column(Shaped(list[str], "The metrics of a schedule"))
    """Settled specifications."""
    replicates: Mapped[int] = mapped_column(Integer)
    seed: Mapped[int] = mapped_column(BigInteger)
    baseline: Mapped[dict[str, Any]] = mapped_column(Shaped(dict[str, Any], "The baseline of a schedule"))
    """`Baseline.as_json`."""
    alpha: Mapped[float] = mapped_column(Double)
    correction: Mapped[str] = mapped_column(String(20))
    """How p-values of one night are corrected for their number: a name of `metrics.resampling`."""
    test: Mapped[PairedTest] = mapped_column(OneOf(PairedTest, 20))
    """A `models.schema.states.PairedTest`."""
    minimum_difference: Mapped[float] = mapped_column(Double, server_default="0", default=0.0)
    """A worse score counts as a regression from so many points on."""
    webhook: Mapped[str | None] = mapped_column(LongString)
    webhook_secret: Mapped[str | None] = mapped_column(LongString)
    """The key of the webhook's signatures. Never printed or logged."""
    webhook_private: Mapped[bool] = mapped_column(Boolean, server_default=false(), default=False)
    """Whether the webhook may be at a private address."""
    team: Mapped[str] = mapped_column(String(100), default="")
    active: Mapped[bool] = mapped_column(Boolean, server_default=true(), default=True)
    """False once it was removed; its history stays."""
    next_at: Mapped[Seconds | None]
    """When the next night is due; None when there will be none."""
    created_at: Mapped[Seconds] = mapped_column(default=now())
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id"))
    """The campaign of its name, which all that it stores belongs to."""


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
    state: Mapped[NightState] = mapped_column(OneOf(NightState), default=NightState.DUE)
    reason: Mapped[str | None] = mapped_column(LongString)
    """Why it failed or was missed."""
    caught_up: Mapped[bool] = mapped_column(Boolean, server_default=false(), default=False)
    """Whether it began late, because no scheduler ran when it was due."""
    manual: Mapped[bool] = mapped_column(Boolean, server_default=false(), default=False)
    """Whether somebody asked for it by hand."""
    created_at: Mapped[Seconds] = mapped_column(default=now())
    started_at: Mapped[Seconds | None]
    finished_at: Mapped[Seconds | None]
    comparisons: Mapped[list[int] | None] = mapped_column(
        Shaped(list[int], "The comparisons of a night", none_as_null=True)
    )
    """Comparisons that it waits for before it can be judged by randomization tests."""
    verdict: Mapped[dict[str, Any] | None] = mapped_column(
        Shaped(dict[str, Any], "The verdict on a night", none_as_null=True)
    )
    """What was found (`analysis.nightly.verdict.Verdict.as_json`); None until it was judged."""
    regressed: Mapped[bool | None] = mapped_column(Boolean)
    """Whether a system is significantly worse than its baseline; None until it was judged."""


class NightStep(Leased, Base):
    """What is to be done for a night in the state that it is in: its outputs are fetched, or it is judged."""

    __tablename__ = "night_step"
    __table_args__ = (
        CheckConstraint(one_of("state", LeaseState), name="state"),
        Index(None, "night_id"),
        *lease_indexes("night_step"),
    )

    night_id: Mapped[int] = mapped_column(ForeignKey("night.id", ondelete="CASCADE"))


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
