"""Tables of results: statistics of shards, scores, randomization tests."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
)
from sqlalchemy import Text as LongString

from models.schema.base import Base, Key
from models.schema.column_types import JsonOf
from models.schema.declarative import Mapped, mapped_column


class ShardResult:
    """The key columns of a shard's result for one evaluation and one metric of its protocol."""

    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluation.id", ondelete="CASCADE"), primary_key=True)
    metric: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    """Position in the protocol's list of metrics."""
    first_block: Mapped[int] = mapped_column(Integer, primary_key=True)
    last_block: Mapped[int] = mapped_column(Integer)
    """Exclusive."""
    blob: Mapped[bytes] = mapped_column(LargeBinary)
    """None if the bytes are stored as an object (`models.storage.blobs`)."""
    object_url: Mapped[str | None] = mapped_column(String(500))
    """The address of the object."""


class Statistics(ShardResult, Base):
    """The (segments × columns) statistics of a shard, packed by models.storage.arrays."""

    __tablename__ = "statistics"


class ReplicatePart(ShardResult, Base):
    """Sums of a large shard: row 0 the plain sums, then one row per replicate (× columns)."""

    __tablename__ = "replicate_part"


class Score(Base):
    """The score of one evaluation by one metric. The primary key excludes a second one."""

    __tablename__ = "score"

    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluation.id", ondelete="CASCADE"), primary_key=True)
    metric: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    """Position in the protocol's list of metrics."""
    specification: Mapped[str] = mapped_column(String(500))
    title: Mapped[str] = mapped_column(String(100))
    signature: Mapped[str] = mapped_column(LongString)
    higher_is_better: Mapped[bool] = mapped_column(Boolean)
    scale: Mapped[float] = mapped_column(Double)
    columns: Mapped[list[str]] = mapped_column(JsonOf(list[str], "The columns of a score"))
    """The names of the summed columns."""
    sums: Mapped[bytes] = mapped_column(LargeBinary)
    score: Mapped[float | None] = mapped_column(Double)
    """None where the metric is undefined."""
    details: Mapped[dict[str, float]] = mapped_column(
        JsonOf(dict[str, float], "The details of a score"), server_default="{}"
    )
    """Further figures shown with the score, by name."""
    replicate_scores: Mapped[bytes] = mapped_column(LargeBinary)
    """float64, one per replicate; NaN where undefined."""


class SystemRuns(Base):
    """A system in randomization tests: the evaluations of all its runs.

    It is a chain, its last evaluation and the row of the preceding ones, so that it is deleted, with its tests, when
    any of them is.
    """

    __tablename__ = "system_runs"
    __table_args__ = (Index(None, "evaluation_id"), Index(None, "before_id"))

    id: Mapped[Key]
    content_hash: Mapped[str] = mapped_column(String(64), unique=True)
    """SHA-256 of the evaluations' ids."""
    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluation.id", ondelete="CASCADE"))
    before_id: Mapped[int | None] = mapped_column(ForeignKey("system_runs.id", ondelete="CASCADE"))
    """None where there is one run."""


class Randomization(Base):
    """A paired approximate randomization test of system b against system a, by one metric."""

    __tablename__ = "randomization"
    __table_args__ = (Index(None, "b_id"),)

    a_id: Mapped[int] = mapped_column(ForeignKey("system_runs.id", ondelete="CASCADE"), primary_key=True)
    """The system whose evaluations come first when compared as lists of numbers."""
    b_id: Mapped[int] = mapped_column(ForeignKey("system_runs.id", ondelete="CASCADE"), primary_key=True)
    metric: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    """Position in the protocol's list of metrics."""
    trials: Mapped[int] = mapped_column(Integer, primary_key=True)
    seed: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    difference: Mapped[float] = mapped_column(Double)
    """Score of b minus score of a; for several runs, of the means."""
    as_large: Mapped[int] = mapped_column(Integer)
    """Trials with a difference at least as large, in either direction."""
