"""Shards: what one task handles."""

from __future__ import annotations

from sqlalchemy import JSON, CheckConstraint, Double, ForeignKey, Index, Integer, text
from sqlalchemy.orm import Mapped, mapped_column

from models.base import Base
from models.lease import Leased, lease_indexes
from models.states import LeaseState, one_of

UNPREPARED = text("state = 'pending' AND not_before = 1e15")
"""What waits for what must be known of all references (`models.states.NOT_YET`)."""


class Shard(Leased, Base):
    """A run of blocks of one protocol's test set, for all evaluations that waited together."""

    __tablename__ = "shard"
    __table_args__ = (
        CheckConstraint(one_of("state", LeaseState), name="state"),
        Index(None, "protocol_id"),
        Index("ix_shard_unprepared", "protocol_id", postgresql_where=UNPREPARED, sqlite_where=UNPREPARED),
        *lease_indexes("shard"),
    )

    protocol_id: Mapped[int] = mapped_column(ForeignKey("protocol.id"))
    first_block: Mapped[int] = mapped_column(Integer)
    last_block: Mapped[int] = mapped_column(Integer)
    """Exclusive."""
    cost: Mapped[float] = mapped_column(Double)
    """Estimated seconds."""
    units: Mapped[float | None] = mapped_column(Double)
    """The work in it, for each of its metrics: typical segments of one system, for which metrics state their costs."""
    metrics: Mapped[list[int] | None] = mapped_column(JSON(none_as_null=True))
    """Positions in the protocol's list of the metrics that it measures; None for all of them."""
    kernel_seconds: Mapped[float | None] = mapped_column(Double)
    """How long the metrics took, of the time from `claimed_at` to `ended_at`."""
    metric_seconds: Mapped[list[float] | None] = mapped_column(JSON(none_as_null=True))
    """How long each metric took, in the order of `metrics`."""


class ShardEvaluation(Base):
    """Which evaluations a shard works for."""

    __tablename__ = "shard_evaluation"
    __table_args__ = (Index(None, "evaluation_id"),)

    shard_id: Mapped[int] = mapped_column(ForeignKey("shard.id", ondelete="CASCADE"), primary_key=True)
    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluation.id", ondelete="CASCADE"), primary_key=True)
