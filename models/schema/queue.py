"""Tables of the queue: evaluations, the leased tasks that they wait for, workers, costs, the leader."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
    UniqueConstraint,
    text,
)
from sqlalchemy import Text as LongString
from sqlalchemy.orm import Mapped, mapped_column

from models.schema.base import Base, Key, Seconds, now
from models.schema.column_types import OneOf, Shaped
from models.schema.states import ComparisonState, EvaluationState, Fault, LeaseState, QueueClass, one_of


class Leased:
    """The columns of work that is claimed, held under a lease and given back."""

    id: Mapped[Key]
    queue_class: Mapped[int] = mapped_column(SmallInteger, default=int(QueueClass.CAMPAIGN))
    team: Mapped[str] = mapped_column(String(100), default="")
    state: Mapped[LeaseState] = mapped_column(OneOf(LeaseState), default=LeaseState.PENDING)
    attempts: Mapped[int] = mapped_column(Integer, default=0)
    """Counted at the claim, so that an attempt which kills its process counts."""
    not_before: Mapped[Seconds] = mapped_column(default=0.0)
    enqueued_at: Mapped[Seconds | None]
    owner: Mapped[str | None] = mapped_column(String(100))
    worker: Mapped[str | None] = mapped_column(String(200))
    lease_until: Mapped[Seconds | None]
    error: Mapped[str | None] = mapped_column(LongString)
    due_at: Mapped[Seconds | None]
    """When somebody wants it done; earlier ones go first among those of a team."""
    edition: Mapped[int] = mapped_column(Integer, server_default="1", default=1)
    """The edition of the numbers that it works for (`metrics.base.EDITION`)."""
    created_at: Mapped[Seconds | None] = mapped_column(default=now())
    claimed_at: Mapped[Seconds | None]
    """When the last attempt began."""
    ended_at: Mapped[Seconds | None]
    """When it was done, failed or cancelled."""
    refused_by: Mapped[list[str] | None] = mapped_column(
        Shaped(list[str], "The releases that could not do a task", none_as_null=True)
    )
    """Releases (version and revision of the tables) whose workers could not do it: they lack a metric, for instance."""


RETRIED = text("state IN ('pending', 'enqueued') AND attempts > 0")
"""Work that waits and was tried before: little, as a rule."""


def lease_indexes(table: str) -> tuple[Index, Index, Index, Index]:
    """The indexes by which the scheduler finds work that waits, is in flight, waits for a retry, or ended long ago."""
    pending, in_flight = text("state = 'pending'"), text("state IN ('enqueued', 'running')")
    return (
        Index(
            f"ix_{table}_pending",
            "queue_class",
            "team",
            "edition",
            "due_at",
            "id",
            # Those whose time has not come are passed over in the index.
            "not_before",
            postgresql_where=pending,
            sqlite_where=pending,
        ),
        Index(
            f"ix_{table}_in_flight",
            "state",
            "queue_class",
            "team",
            # SQLite would use it for this very list of states alone, and for none of them by itself.
            postgresql_where=in_flight,
        ),
        Index(f"ix_{table}_retried", "attempts", postgresql_where=RETRIED, sqlite_where=RETRIED),
        Index(f"ix_{table}_ended_at", "ended_at"),
    )


FAILED = text("state = 'failed'")


class Evaluation(Base):
    """One submission × one protocol; there is never a second one."""

    __tablename__ = "evaluation"
    __table_args__ = (
        UniqueConstraint("submission_id", "protocol_id"),
        CheckConstraint(one_of("state", EvaluationState), name="state"),
        Index(None, "protocol_id"),
        Index(None, "reduction_id"),
        Index(None, "state"),
        Index(None, "finished_at"),
        Index("ix_evaluation_failed", "finished_at", "id", postgresql_where=FAILED, sqlite_where=FAILED),
    )

    id: Mapped[Key]
    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"))
    protocol_id: Mapped[int] = mapped_column(ForeignKey("protocol.id"))
    queue_class: Mapped[int] = mapped_column(SmallInteger, default=int(QueueClass.CAMPAIGN))
    team: Mapped[str] = mapped_column(String(100), default="")
    """The team whose turn its shards take."""
    state: Mapped[EvaluationState] = mapped_column(OneOf(EvaluationState), default=EvaluationState.QUEUED)
    remaining: Mapped[int] = mapped_column(Integer, default=0)
    """Shards that are not done yet."""
    reduction_id: Mapped[int | None] = mapped_column(ForeignKey("reduction.id"))
    reason: Mapped[str | None] = mapped_column(LongString)
    fault: Mapped[Fault | None] = mapped_column(OneOf(Fault))
    """Of a failed one whose fault it was (`models.schema.states.Fault`); of a cancelled one `input` where its
    attempt counts all the same."""
    due_at: Mapped[Seconds | None]
    """When somebody wants it done."""
    edition: Mapped[int] = mapped_column(Integer, server_default="1", default=1)
    """The edition of the numbers by which it is measured (`metrics.base.EDITION`)."""
    created_at: Mapped[Seconds] = mapped_column(default=now())
    started_at: Mapped[Seconds | None]
    finished_at: Mapped[Seconds | None]


UNPREPARED = text("state = 'pending' AND not_before = 1e15")
"""What waits for what must be known of all references (`models.schema.states.NOT_YET`)."""


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
    metrics: Mapped[list[int] | None] = mapped_column(Shaped(list[int], "The metrics of a shard", none_as_null=True))
    """Positions in the protocol's list of the metrics that it measures; None for all of them."""
    kernel_seconds: Mapped[float | None] = mapped_column(Double)
    """How long the metrics took, of the time from `claimed_at` to `ended_at`."""
    metric_seconds: Mapped[list[float] | None] = mapped_column(
        Shaped(list[float], "How long the metrics of a shard took", none_as_null=True)
    )
    """How long each metric took, in the order of `metrics`."""


class ShardEvaluation(Base):
    """Which evaluations a shard works for."""

    __tablename__ = "shard_evaluation"
    __table_args__ = (Index(None, "evaluation_id"),)

    shard_id: Mapped[int] = mapped_column(ForeignKey("shard.id", ondelete="CASCADE"), primary_key=True)
    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluation.id", ondelete="CASCADE"), primary_key=True)


class Reduction(Leased, Base):
    """The step from statistics to scores, for the evaluations that point at it."""

    __tablename__ = "reduction"
    __table_args__ = (
        CheckConstraint(one_of("state", LeaseState), name="state"),
        Index(None, "protocol_id"),
        *lease_indexes("reduction"),
    )

    protocol_id: Mapped[int] = mapped_column(ForeignKey("protocol.id"))


OPEN = text("blob IS NULL")
"""What is still to be made."""


class PreparedState(Base):
    """The state that metrics need of a set of reference texts. Known by its content, so it is stored once."""

    __tablename__ = "prepared_state"
    __table_args__ = (Index("ix_prepared_state_open", "edition", postgresql_where=OPEN, sqlite_where=OPEN),)

    id: Mapped[Key]
    content_hash: Mapped[str] = mapped_column(String(64), unique=True)
    """SHA-256 of all that the state depends on: the reference texts, whatever their order, the key, the edition."""
    key: Mapped[str] = mapped_column(String(200))
    """What is counted, and how; metrics with the same key share the state."""
    metric: Mapped[str] = mapped_column(String(500))
    """The specification of a metric that needs it, which knows how to make it."""
    reference_texts: Mapped[list[int]] = mapped_column(Shaped(list[int], "The texts of a prepared state"))
    variable_references: Mapped[bool] = mapped_column(Boolean)
    segments: Mapped[int] = mapped_column(Integer)
    edition: Mapped[int] = mapped_column(Integer, server_default="1", default=1)
    """The edition of the numbers by which it is counted."""
    blob: Mapped[bytes | None] = mapped_column(LargeBinary)
    """The state, compressed by zlib; None until it is complete, empty where it is in chapters."""


class PreparedChapter(Base):
    """What a large state says of a run of blocks: shards read what they need of it."""

    __tablename__ = "prepared_chapter"

    prepared_state_id: Mapped[int] = mapped_column(
        ForeignKey("prepared_state.id", ondelete="CASCADE"), primary_key=True
    )
    first_block: Mapped[int] = mapped_column(Integer, primary_key=True)
    last_block: Mapped[int] = mapped_column(Integer)
    """Exclusive."""
    blob: Mapped[bytes] = mapped_column(LargeBinary)
    """Compressed by zlib."""


class ProtocolState(Base):
    """Which states the shards of a protocol wait for."""

    __tablename__ = "protocol_state"
    __table_args__ = (Index(None, "prepared_state_id"),)

    protocol_id: Mapped[int] = mapped_column(ForeignKey("protocol.id", ondelete="CASCADE"), primary_key=True)
    prepared_state_id: Mapped[int] = mapped_column(ForeignKey("prepared_state.id"), primary_key=True)


class Preparation(Leased, Base):
    """Counting a run of blocks of the references, or merging what was counted into the state."""

    __tablename__ = "preparation"
    __table_args__ = (
        CheckConstraint(one_of("state", LeaseState), name="state"),
        Index(None, "prepared_state_id"),
        *lease_indexes("preparation"),
    )

    prepared_state_id: Mapped[int] = mapped_column(ForeignKey("prepared_state.id"))
    first_block: Mapped[int] = mapped_column(Integer)
    last_block: Mapped[int] = mapped_column(Integer)
    """Exclusive."""
    merges: Mapped[bool] = mapped_column(Boolean, default=False)
    # The last column: SQLite reads a row up to the column that is asked for, and parts have megabytes.
    part: Mapped[bytes | None] = mapped_column(LargeBinary, sort_order=1)
    """What was counted, compressed by zlib, until it is merged."""


RUNNING = text("state = 'running'")


class Comparison(Base):
    """Tests of pairs of systems that are made together, because nobody had made them before."""

    __tablename__ = "comparison"
    __table_args__ = (
        CheckConstraint(one_of("state", ComparisonState), name="state"),
        Index(None, "protocol_id"),
        Index(None, "finished_at"),
        # Who asks for the same again while it runs gets the one that runs.
        Index("uq_comparison_running", "content_hash", unique=True, postgresql_where=RUNNING, sqlite_where=RUNNING),
    )

    id: Mapped[Key]
    protocol_id: Mapped[int] = mapped_column(ForeignKey("protocol.id"))
    content_hash: Mapped[str] = mapped_column(String(64))
    """SHA-256 of what is tested, and how."""
    contestants: Mapped[list[list[int]]] = mapped_column(Shaped(list[list[int]], "The systems of a comparison"))
    """The evaluations of each system's runs, ascending."""
    tests: Mapped[list[list[int]]] = mapped_column(Shaped(list[list[int]], "The tests of a comparison"))
    """Of each test the metric's position in the protocol, and two positions in `contestants`."""
    trials: Mapped[int] = mapped_column(Integer)
    seed: Mapped[int] = mapped_column(BigInteger)
    state: Mapped[ComparisonState] = mapped_column(OneOf(ComparisonState), default=ComparisonState.RUNNING)
    remaining: Mapped[int] = mapped_column(Integer)
    """Rows of `trials` that are not done yet."""
    reason: Mapped[str | None] = mapped_column(LongString)
    created_at: Mapped[Seconds] = mapped_column(default=now())
    finished_at: Mapped[Seconds | None]


class Trials(Leased, Base):
    """Consecutive trials of all tests of a comparison, for one task."""

    __tablename__ = "trials"
    __table_args__ = (
        CheckConstraint(one_of("state", LeaseState), name="state"),
        Index(None, "comparison_id"),
        *lease_indexes("trials"),
    )

    comparison_id: Mapped[int] = mapped_column(ForeignKey("comparison.id", ondelete="CASCADE"))
    first_trial: Mapped[int] = mapped_column(Integer)
    last_trial: Mapped[int] = mapped_column(Integer)
    """Exclusive."""
    counts: Mapped[bytes | None] = mapped_column(LargeBinary)
    """(tests,) how many of the trials were as large, packed by models.storage.arrays, until the comparison ends."""


class Worker(Base):
    """A worker's main process: it beats here while it lives."""

    __tablename__ = "worker"

    id: Mapped[str] = mapped_column(String(200), primary_key=True)
    host: Mapped[str] = mapped_column(String(255))
    pid: Mapped[int] = mapped_column(Integer)
    beat_at: Mapped[Seconds] = mapped_column(default=now())
    version: Mapped[str] = mapped_column(String(50))
    concurrency: Mapped[int] = mapped_column(Integer)
    """Processes in its pool."""
    edition: Mapped[int] = mapped_column(Integer, server_default="1", default=1)
    """The edition of the numbers that it makes (`metrics.base.EDITION`)."""
    started_at: Mapped[Seconds | None] = mapped_column(default=now())
    revision: Mapped[str | None] = mapped_column(String(32))
    """The newest migration that it knows (`models.database.migrate.REVISION`); older releases do not say."""


class MeasuredCost(Base):
    """The cost of one metric, learned from shards that were done. Results never depend on it."""

    __tablename__ = "measured_cost"

    specification: Mapped[str] = mapped_column(String(500), primary_key=True)
    microseconds: Mapped[float] = mapped_column(Double)
    """For one typical segment of one system, as a metric's own `cost`."""
    weight: Mapped[float] = mapped_column(Double)
    """How many such segments it was learned from; old ones count less."""
    updated_at: Mapped[Seconds] = mapped_column(default=now())


class Leader(Base):
    """One row at most: the scheduler that leads."""

    __tablename__ = "leader"

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    """Always 1."""
    holder: Mapped[str] = mapped_column(String(200))
    """A fencing token, new for each process that wants to lead."""
    expires_at: Mapped[Seconds]
    """When the term ends, by the database's clock."""


class Compatibility(Base):
    """One row. A migration that breaks older programs writes into it the revision that programs must know from then on.

    `UPDATE compatibility SET oldest = '<its own revision>'`.
    """

    __tablename__ = "compatibility"

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    """Always 1."""
    oldest: Mapped[str] = mapped_column(String(32))
    """The oldest revision whose programs can work with these tables."""
