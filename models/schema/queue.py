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

from models.schema.base import Base, Key, PartialIndex, Seconds, now
from models.schema.column_types import EnumText, JsonOf
from models.schema.declarative import Mapped, mapped_column
from models.schema.states import ComparisonState, EvaluationState, Fault, LeaseState, QueueClass, one_of
from runtime.tracing import current_trace

TRACE_LENGTH = 55
"""Characters of a `traceparent`."""


class Leased:
    """The columns of leased work."""

    id: Mapped[Key]
    queue_class: Mapped[int] = mapped_column(SmallInteger, default=int(QueueClass.CAMPAIGN))
    team: Mapped[str] = mapped_column(String(100), default="")
    state: Mapped[LeaseState] = mapped_column(EnumText(LeaseState), default=LeaseState.PENDING)
    attempts: Mapped[int] = mapped_column(Integer, default=0)
    """Counted at the claim, so that an attempt that kills its process counts."""
    not_before: Mapped[Seconds] = mapped_column(default=0.0)
    enqueued_at: Mapped[Seconds | None]
    owner: Mapped[str | None] = mapped_column(String(100))
    worker: Mapped[str | None] = mapped_column(String(200))
    lease_until: Mapped[Seconds | None]
    error: Mapped[str | None] = mapped_column(LongString)
    due_at: Mapped[Seconds | None]
    """The requested time of completion; among a team's rows, earlier ones go first."""
    edition: Mapped[int] = mapped_column(Integer, server_default="1", default=1)
    """The edition of the numbers that it produces (`steelyard.metrics.metric.EDITION`)."""
    created_at: Mapped[Seconds | None] = mapped_column(default=now())
    claimed_at: Mapped[Seconds | None]
    """When the last attempt began."""
    ended_at: Mapped[Seconds | None]
    """When it was done, failed or cancelled."""
    refused_by: Mapped[list[str] | None] = mapped_column(
        JsonOf(list[str], "The releases that could not do a task", none_as_null=True)
    )
    """Releases (version and schema revision) whose workers refused it, for instance because they lack a metric."""
    trace: Mapped[str | None] = mapped_column(String(TRACE_LENGTH), default=current_trace)
    """The trace of the request that caused it (`runtime.tracing`)."""


RETRIED = text("state IN ('pending', 'enqueued') AND attempts > 0")
"""Waiting work that was tried before: usually little."""


def lease_indexes(table: str) -> tuple[Index, Index, Index, Index]:
    """The indexes by which the scheduler finds work that is pending, in flight, waiting for a retry, or long ended."""
    pending, in_flight = text("state = 'pending'"), text("state IN ('enqueued', 'running')")
    return (
        PartialIndex(
            f"ix_{table}_pending",
            "queue_class",
            "team",
            "edition",
            "due_at",
            "id",
            # Rows that are not due yet are skipped within the index.
            "not_before",
            where=pending,
        ),
        PartialIndex(
            f"ix_{table}_in_flight",
            "state",
            "queue_class",
            "team",
            # SQLite uses it only for exactly this list of states, not for a single one.
            where=in_flight,
            on_sqlite=False,
        ),
        PartialIndex(f"ix_{table}_retried", "attempts", where=RETRIED),
        Index(f"ix_{table}_ended_at", "ended_at"),
    )


FAILED = text("state = 'failed'")


class Evaluation(Base):
    """One submission under one protocol; there is never a second one."""

    __tablename__ = "evaluation"
    __table_args__ = (
        UniqueConstraint("submission_id", "protocol_id"),
        CheckConstraint(one_of("state", EvaluationState), name="state"),
        Index(None, "protocol_id"),
        Index(None, "reduction_id"),
        Index(None, "state"),
        Index(None, "finished_at"),
        PartialIndex("ix_evaluation_failed", "finished_at", "id", where=FAILED),
    )

    id: Mapped[Key]
    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"))
    protocol_id: Mapped[int] = mapped_column(ForeignKey("protocol.id"))
    queue_class: Mapped[int] = mapped_column(SmallInteger, default=int(QueueClass.CAMPAIGN))
    team: Mapped[str] = mapped_column(String(100), default="")
    """The team charged for its shards."""
    state: Mapped[EvaluationState] = mapped_column(EnumText(EvaluationState), default=EvaluationState.QUEUED)
    remaining: Mapped[int] = mapped_column(Integer, default=0)
    """Unfinished shards."""
    reduction_id: Mapped[int | None] = mapped_column(ForeignKey("reduction.id"))
    reason: Mapped[str | None] = mapped_column(LongString)
    fault: Mapped[Fault | None] = mapped_column(EnumText(Fault))
    """Whose fault a failure was (`models.schema.states.Fault`); for a cancelled evaluation, `input` if it counts
    against the quota."""
    due_at: Mapped[Seconds | None]
    """The requested time of completion."""
    edition: Mapped[int] = mapped_column(Integer, server_default="1", default=1)
    """The edition of the numbers that it uses (`steelyard.metrics.metric.EDITION`)."""
    created_at: Mapped[Seconds] = mapped_column(default=now())
    started_at: Mapped[Seconds | None]
    finished_at: Mapped[Seconds | None]
    trace: Mapped[str | None] = mapped_column(String(TRACE_LENGTH), default=current_trace)
    """The trace of the request that has enqueued it last (`runtime.tracing`)."""


AWAITING_STATISTICS = text("state = 'pending' AND not_before = 1e15")
"""Shards that wait for corpus statistics (`models.schema.states.NOT_YET`)."""


class Shard(Leased, Base):
    """A range of blocks of one protocol's test set, for all evaluations enqueued together."""

    __tablename__ = "shard"
    __table_args__ = (
        CheckConstraint(one_of("state", LeaseState), name="state"),
        Index(None, "protocol_id"),
        PartialIndex(
            "ix_shard_awaiting_statistics",
            "protocol_id",
            where=AWAITING_STATISTICS,
        ),
        *lease_indexes("shard"),
    )

    protocol_id: Mapped[int] = mapped_column(ForeignKey("protocol.id"))
    first_block: Mapped[int] = mapped_column(Integer)
    last_block: Mapped[int] = mapped_column(Integer)
    """Exclusive."""
    cost: Mapped[float] = mapped_column(Double)
    """Estimated seconds."""
    units: Mapped[float | None] = mapped_column(Double)
    """The work per metric: typical segments of one system, the unit of the metrics' costs."""
    metrics: Mapped[list[int] | None] = mapped_column(JsonOf(list[int], "The metrics of a shard", none_as_null=True))
    """Positions of its metrics in the protocol's list; None for all of them."""
    kernel_seconds: Mapped[float | None] = mapped_column(Double)
    """Time that the metrics took, within the time from `claimed_at` to `ended_at`."""
    metric_seconds: Mapped[list[float] | None] = mapped_column(
        JsonOf(list[float], "How long the metrics of a shard took", none_as_null=True)
    )
    """Time of each metric, in the order of `metrics`."""


class ShardEvaluation(Base):
    """The evaluations that a shard works for."""

    __tablename__ = "shard_evaluation"
    __table_args__ = (Index(None, "evaluation_id"),)

    shard_id: Mapped[int] = mapped_column(ForeignKey("shard.id", ondelete="CASCADE"), primary_key=True)
    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluation.id", ondelete="CASCADE"), primary_key=True)


class Reduction(Leased, Base):
    """The step from statistics to scores, for the evaluations that refer to it."""

    __tablename__ = "reduction"
    __table_args__ = (
        CheckConstraint(one_of("state", LeaseState), name="state"),
        Index(None, "protocol_id"),
        *lease_indexes("reduction"),
    )

    protocol_id: Mapped[int] = mapped_column(ForeignKey("protocol.id"))


OPEN = text("blob IS NULL")
"""Incomplete statistics."""


class CorpusStatistics(Base):
    """Corpus statistics of a set of reference texts. Identified by their content, so they are stored once."""

    __tablename__ = "corpus_statistics"
    __table_args__ = (PartialIndex("ix_corpus_statistics_open", "edition", where=OPEN),)

    id: Mapped[Key]
    content_hash: Mapped[str] = mapped_column(String(64), unique=True)
    """SHA-256 of everything that they depend on: the reference texts (unordered), the key, the edition."""
    key: Mapped[str] = mapped_column(String(200))
    """What is counted, and how; metrics with the same key share the statistics."""
    metric: Mapped[str] = mapped_column(String(500))
    """The specification of a metric that needs them and can compute them."""
    reference_texts: Mapped[list[int]] = mapped_column(JsonOf(list[int], "The texts of corpus statistics"))
    variable_references: Mapped[bool] = mapped_column(Boolean)
    segments: Mapped[int] = mapped_column(Integer)
    edition: Mapped[int] = mapped_column(Integer, server_default="1", default=1)
    """The edition of the numbers."""
    blob: Mapped[bytes | None] = mapped_column(LargeBinary)
    """The statistics, compressed by zlib; None until complete."""


class ProtocolStatistics(Base):
    """The corpus statistics that a protocol's shards need."""

    __tablename__ = "protocol_statistics"
    __table_args__ = (Index(None, "corpus_statistics_id"),)

    protocol_id: Mapped[int] = mapped_column(ForeignKey("protocol.id", ondelete="CASCADE"), primary_key=True)
    corpus_statistics_id: Mapped[int] = mapped_column(ForeignKey("corpus_statistics.id"), primary_key=True)


class CorpusCount(Leased, Base):
    """A task that counts a range of blocks of the references, or merges the counts into the corpus statistics."""

    __tablename__ = "corpus_count"
    __table_args__ = (
        CheckConstraint(one_of("state", LeaseState), name="state"),
        Index(None, "corpus_statistics_id"),
        *lease_indexes("corpus_count"),
    )

    corpus_statistics_id: Mapped[int] = mapped_column(ForeignKey("corpus_statistics.id"))
    first_block: Mapped[int] = mapped_column(Integer)
    last_block: Mapped[int] = mapped_column(Integer)
    """Exclusive."""
    merges: Mapped[bool] = mapped_column(Boolean, default=False)
    # The last column: SQLite reads a row up to the requested column, and parts take megabytes.
    part: Mapped[bytes | None] = mapped_column(LargeBinary, sort_order=1)
    """The counts, compressed by zlib, until they are merged."""


RUNNING = text("state = 'running'")


class Comparison(Base):
    """Tests of pairs of systems that run together, because their results are not stored yet."""

    __tablename__ = "comparison"
    __table_args__ = (
        CheckConstraint(one_of("state", ComparisonState), name="state"),
        Index(None, "protocol_id"),
        Index(None, "finished_at"),
        # A request for the same comparison while it runs gets the running one.
        PartialIndex("uq_comparison_running", "content_hash", unique=True, where=RUNNING),
    )

    id: Mapped[Key]
    protocol_id: Mapped[int] = mapped_column(ForeignKey("protocol.id"))
    content_hash: Mapped[str] = mapped_column(String(64))
    """SHA-256 of the tests and their parameters."""
    systems: Mapped[list[list[int]]] = mapped_column(JsonOf(list[list[int]], "The systems of a comparison"))
    """The evaluations of each system's runs, ascending."""
    tests: Mapped[list[list[int]]] = mapped_column(JsonOf(list[list[int]], "The tests of a comparison"))
    """For each test, the metric's position in the protocol and two positions in `systems`."""
    trials: Mapped[int] = mapped_column(Integer)
    seed: Mapped[int] = mapped_column(BigInteger)
    state: Mapped[ComparisonState] = mapped_column(EnumText(ComparisonState), default=ComparisonState.RUNNING)
    remaining: Mapped[int] = mapped_column(Integer)
    """Unfinished rows of `trials`."""
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
    """(tests,), the trials with a difference as large, packed by models.storage.arrays, until the comparison ends."""


class MetricsTaskPart(Leased, Base):
    """Comparing the metrics of a leaderboard by one statistic of judgments: a column of a metrics task."""

    __tablename__ = "metrics_task_part"
    __table_args__ = (
        CheckConstraint(one_of("state", LeaseState), name="state"),
        UniqueConstraint(
            *("protocol_id", "campaign_id", "judgments_id", "statistic", "inputs"), name="uq_metrics_task_part_inputs"
        ),
        Index(None, "campaign_id"),
        Index(None, "judgments_id"),
        *lease_indexes("metrics_task_part"),
    )

    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"))
    protocol_id: Mapped[int] = mapped_column(ForeignKey("protocol.id", ondelete="CASCADE"))
    judgments_id: Mapped[int] = mapped_column(ForeignKey("judgments.id", ondelete="CASCADE"))
    pair: Mapped[str] = mapped_column(String(300))
    """The name of the test set, on which its draws depend."""
    statistic: Mapped[str] = mapped_column(String(30))
    """As `steelyard.meta_evaluation.task_results` names it."""
    inputs: Mapped[str] = mapped_column(String(64))
    """SHA-256 of what the result depends on: other scores make another part."""
    result: Mapped[bytes | None] = mapped_column(LargeBinary)
    """As `analysis.meta_evaluation.metrics_task_parts` packs it, once it is done."""


class Worker(Base):
    """A worker's main process with its heartbeat."""

    __tablename__ = "worker"

    id: Mapped[str] = mapped_column(String(200), primary_key=True)
    host: Mapped[str] = mapped_column(String(255))
    pid: Mapped[int] = mapped_column(Integer)
    beat_at: Mapped[Seconds] = mapped_column(default=now())
    version: Mapped[str] = mapped_column(String(50))
    concurrency: Mapped[int] = mapped_column(Integer)
    """Processes in its pool."""
    edition: Mapped[int] = mapped_column(Integer, server_default="1", default=1)
    """The edition of the numbers that it produces (`steelyard.metrics.metric.EDITION`)."""
    started_at: Mapped[Seconds | None] = mapped_column(default=now())
    revision: Mapped[str | None] = mapped_column(String(32))
    """The newest migration that it knows (`models.database.migrate.REVISION`); older releases do not report it."""
    queue: Mapped[str] = mapped_column(String(50), server_default="", default="")
    """The queue of its own that it works on, such as "learned"; "" for what the scheduler sends."""
    device: Mapped[str | None] = mapped_column(String(50))
    """What its models run on, such as "cuda:0"."""
    lacks: Mapped[list[str] | None] = mapped_column(
        JsonOf(list[str], "The metrics that a worker lacks models for", none_as_null=True)
    )
    """Specifications of waiting metrics whose model or program it does not have."""
    message_version: Mapped[int] = mapped_column(Integer, server_default="1", default=1)
    """The newest version of messages that it reads (`worker.tasks.MESSAGE_VERSION`)."""


class MeasuredCost(Base):
    """The cost of one metric, learned from finished shards. Results never depend on it."""

    __tablename__ = "measured_cost"

    specification: Mapped[str] = mapped_column(String(500), primary_key=True)
    microseconds: Mapped[float] = mapped_column(Double)
    """For one typical segment of one system, the unit of a metric's own `cost`."""
    weight: Mapped[float] = mapped_column(Double)
    """The number of such segments that it was learned from; older ones weigh less."""
    updated_at: Mapped[Seconds] = mapped_column(default=now())


class Leader(Base):
    """The leading scheduler: at most one row."""

    __tablename__ = "leader"

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    """Always 1."""
    holder: Mapped[str] = mapped_column(String(200))
    """A fencing token, new for each process that tries to lead."""
    expires_at: Mapped[Seconds]
    """The end of the term, by the database's clock."""


class Compatibility(Base):
    """One row. A breaking migration sets it to the oldest revision that programs need from then on.

    `UPDATE compatibility SET oldest = '<its own revision>'`.
    """

    __tablename__ = "compatibility"

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    """Always 1."""
    oldest: Mapped[str] = mapped_column(String(32))
    """The oldest revision whose programs are compatible with these tables."""
