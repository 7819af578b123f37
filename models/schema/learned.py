"""Tables of what models and programs score: columns that fill in later, their tasks, and scores by content."""

from __future__ import annotations

from sqlalchemy import Boolean, CheckConstraint, ForeignKey, Index, Integer, LargeBinary, SmallInteger, String, text
from sqlalchemy import Text as LongString

from models.schema.base import Base, Key, PartialIndex, Seconds, now
from models.schema.column_types import EnumText
from models.schema.declarative import Mapped, mapped_column
from models.schema.queue import FAILED, Leased, lease_indexes
from models.schema.states import ColumnState, LeaseState, one_of

WAITING = text("state = 'waiting'")


class LearnedColumn(Base):
    """A learned metric of an evaluation, whose other metrics do not wait for it.

    Its `score` is undefined until it is done.
    """

    __tablename__ = "learned_column"
    __table_args__ = (
        CheckConstraint(one_of("state", ColumnState), name="state"),
        PartialIndex("ix_learned_column_waiting", "evaluation_id", where=WAITING),
        PartialIndex("ix_learned_column_failed", "finished_at", where=FAILED),
    )

    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluation.id", ondelete="CASCADE"), primary_key=True)
    metric: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    """Position in the protocol's list of metrics."""
    state: Mapped[ColumnState] = mapped_column(EnumText(ColumnState), default=ColumnState.WAITING)
    remaining: Mapped[int] = mapped_column(Integer)
    """Unfinished shards."""
    reason: Mapped[str | None] = mapped_column(LongString)
    finished_at: Mapped[Seconds | None]


class LearnedShard(Leased, Base):
    """A range of blocks to be scored by one learned metric, or with `reduces` the step from there to scores."""

    __tablename__ = "learned_shard"
    __table_args__ = (
        CheckConstraint(one_of("state", LeaseState), name="state"),
        Index(None, "protocol_id"),
        *lease_indexes("learned_shard"),
    )

    protocol_id: Mapped[int] = mapped_column(ForeignKey("protocol.id"))
    metric: Mapped[int] = mapped_column(SmallInteger)
    """Position in the protocol's list of metrics."""
    specification: Mapped[str] = mapped_column(String(500))
    """Of the metric: it names the model or program that a worker needs."""
    first_block: Mapped[int] = mapped_column(Integer)
    last_block: Mapped[int] = mapped_column(Integer)
    """Exclusive."""
    reduces: Mapped[bool] = mapped_column(Boolean, default=False)
    segments: Mapped[int] = mapped_column(Integer)
    """Different contents to be scored; an upper bound until the work begins."""
    scored: Mapped[int] = mapped_column(Integer, default=0)
    """How many of them have scores."""


class LearnedShardEvaluation(Base):
    """The evaluations that a learned shard works for."""

    __tablename__ = "learned_shard_evaluation"
    __table_args__ = (Index(None, "evaluation_id"),)

    learned_shard_id: Mapped[int] = mapped_column(ForeignKey("learned_shard.id", ondelete="CASCADE"), primary_key=True)
    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluation.id", ondelete="CASCADE"), primary_key=True)


class Scorer(Base):
    """What gave scores: a model with its engine, precision and kind of device, or a program with its version."""

    __tablename__ = "scorer"

    id: Mapped[Key]
    content_hash: Mapped[str] = mapped_column(String(64), unique=True)
    """SHA-256 of the description."""
    description: Mapped[str] = mapped_column(LongString)
    """`ContentMetric.scorer`."""


class SegmentScore(Base):
    """What a scorer said of a content: a hypothesis with its source and references. Never changed."""

    __tablename__ = "segment_score"
    __table_args__ = (Index(None, "used_at"),)

    scorer_id: Mapped[int] = mapped_column(ForeignKey("scorer.id", ondelete="CASCADE"), primary_key=True)
    content_hash: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)
    """SHA-256 of the texts (`Content.digest`)."""
    numbers: Mapped[bytes] = mapped_column(LargeBinary)
    """The score and what is added up beside it, little-endian float64."""
    beside: Mapped[str | None] = mapped_column(LongString)
    """What was said beside the score, as JSON."""
    used_at: Mapped[Seconds] = mapped_column(default=now())
    """When it was last needed, to the day."""
