"""Tables of schedules, their nightly runs, and webhook deliveries."""

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

from models.schema.base import Base, Key, PartialIndex, Seconds, now
from models.schema.column_types import EnumText, JsonOf
from models.schema.declarative import Mapped, mapped_column
from models.schema.queue import Leased, lease_indexes
from models.schema.states import LeaseState, NightlyRunState, PairedTest, one_of


class Schedule(Base):
    """A schedule by which outputs of systems are fetched, scored and compared with a baseline."""

    __tablename__ = "schedule"
    __table_args__ = (
        CheckConstraint(one_of("test", PairedTest), name="test"),
        PartialIndex("ix_schedule_next_at", "next_at", where=text("active")),
    )

    id: Mapped[Key]
    name: Mapped[str] = mapped_column(String(200), unique=True)
    cron: Mapped[str] = mapped_column(String(200))
    """When: a cron expression, in `time_zone`."""
    time_zone: Mapped[str] = mapped_column(String(100))
    """A name of the IANA database."""
    source: Mapped[dict[str, Any]] = mapped_column(JsonOf(dict[str, Any], "The source of a schedule"))
    """Where outputs come from: {"kind": "folder", "pattern"}, or {"kind": "command", "command", "pattern", "seconds"}:
    a command with a time limit that writes the files of the pattern."""
    test_sets: Mapped[list[dict[str, Any]]] = mapped_column(JsonOf(list[dict[str, Any]], "The test sets of a schedule"))
    """A list of {"test_set_id", "references", "resample"}: the references as labels in order, and what is resampled,
    which schedules of before there was a choice do not say: segments."""
    metrics: Mapped[list[str]] = mapped_column(JsonOf(list[str], "The metrics of a schedule"))
    """Resolved specifications."""
    replicates: Mapped[int] = mapped_column(Integer)
    seed: Mapped[int] = mapped_column(BigInteger)
    baseline: Mapped[dict[str, Any]] = mapped_column(JsonOf(dict[str, Any], "The baseline of a schedule"))
    """`Baseline.as_json`."""
    alpha: Mapped[float] = mapped_column(Double)
    correction: Mapped[str] = mapped_column(String(20))
    """The correction of a run's p-values for multiple tests: a name of `steelyard.resampling`."""
    test: Mapped[PairedTest] = mapped_column(EnumText(PairedTest, 20))
    """A `models.schema.states.PairedTest`."""
    minimum_difference: Mapped[float] = mapped_column(Double, server_default="0", default=0.0)
    """The smallest loss, in points, that counts as a regression."""
    webhook: Mapped[str | None] = mapped_column(LongString)
    webhook_secret: Mapped[str | None] = mapped_column(LongString)
    """The key of the webhook's signatures. Never printed or logged."""
    webhook_private: Mapped[bool] = mapped_column(Boolean, server_default=false(), default=False)
    """Whether the webhook may have a private address."""
    team: Mapped[str] = mapped_column(String(100), default="")
    active: Mapped[bool] = mapped_column(Boolean, server_default=true(), default=True)
    """False once removed; its history stays."""
    next_at: Mapped[Seconds | None]
    """When the next run is due; None if there will be none."""
    created_at: Mapped[Seconds] = mapped_column(default=now())
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id"))
    """The campaign of the same name, to which its submissions belong."""


OPEN_RUNS = text("state IN ('due', 'fetching', 'scoring', 'judging')")


class NightlyRun(Base):
    """One run of a schedule. `due -> fetching -> scoring -> judging -> done`, or `failed`, or `missed`."""

    __tablename__ = "nightly_run"
    __table_args__ = (
        # Two schedulers that plan at once plan one run.
        UniqueConstraint("schedule_id", "due_at"),
        CheckConstraint(one_of("state", NightlyRunState), name="state"),
        PartialIndex("ix_nightly_run_open", "schedule_id", where=OPEN_RUNS),
    )

    id: Mapped[Key]
    schedule_id: Mapped[int] = mapped_column(ForeignKey("schedule.id", ondelete="CASCADE"))
    due_at: Mapped[Seconds]
    """The planned time; a schedule's runs are ordered by it."""
    date: Mapped[str] = mapped_column(String(10))
    """The date in the schedule's time zone, YYYY-MM-DD."""
    state: Mapped[NightlyRunState] = mapped_column(EnumText(NightlyRunState), default=NightlyRunState.DUE)
    reason: Mapped[str | None] = mapped_column(LongString)
    """Why it failed or was missed."""
    caught_up: Mapped[bool] = mapped_column(Boolean, server_default=false(), default=False)
    """Whether it began late, because no scheduler was running when it was due."""
    manual: Mapped[bool] = mapped_column(Boolean, server_default=false(), default=False)
    """Whether it was requested by hand."""
    created_at: Mapped[Seconds] = mapped_column(default=now())
    started_at: Mapped[Seconds | None]
    finished_at: Mapped[Seconds | None]
    comparisons: Mapped[list[int] | None] = mapped_column(
        JsonOf(list[int], "The comparisons of a run", none_as_null=True)
    )
    """Comparisons that must finish before the run can be judged by randomization tests."""
    verdict: Mapped[dict[str, Any] | None] = mapped_column(
        JsonOf(dict[str, Any], "The verdict on a run", none_as_null=True)
    )
    """The verdict (`analysis.nightly.verdict.Verdict.as_json`); None until the run is judged."""
    regressed: Mapped[bool | None] = mapped_column(Boolean)
    """Whether a system is significantly worse than its baseline; None until the run is judged."""


class NightlyRunStep(Leased, Base):
    """The work of a nightly run in its current state: fetching its outputs, or judging it."""

    __tablename__ = "nightly_run_step"
    __table_args__ = (
        CheckConstraint(one_of("state", LeaseState), name="state"),
        Index(None, "nightly_run_id"),
        *lease_indexes("nightly_run_step"),
    )

    nightly_run_id: Mapped[int] = mapped_column(ForeignKey("nightly_run.id", ondelete="CASCADE"))


class NightlyRunEvaluation(Base):
    """An evaluation that a nightly run measured, possibly shared with an earlier run with the same output."""

    __tablename__ = "nightly_run_evaluation"
    __table_args__ = (Index(None, "evaluation_id"),)

    nightly_run_id: Mapped[int] = mapped_column(ForeignKey("nightly_run.id", ondelete="CASCADE"), primary_key=True)
    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluation.id", ondelete="CASCADE"), primary_key=True)
    system: Mapped[str] = mapped_column(String(200))


class Delivery(Leased, Base):
    """A webhook delivery about a finished nightly run."""

    __tablename__ = "delivery"
    __table_args__ = (
        UniqueConstraint("nightly_run_id"),
        CheckConstraint(one_of("state", LeaseState), name="state"),
        *lease_indexes("delivery"),
    )

    nightly_run_id: Mapped[int] = mapped_column(ForeignKey("nightly_run.id", ondelete="CASCADE"))
