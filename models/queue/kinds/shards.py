"""The life cycle of a shard: loaded, then completed, split or failed.

Lock order: shard, then evaluations by id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, case, exists, func, insert, literal, select, update

from models.database.upsert import upsert_blobs
from models.queue.evaluation_end import fail_evaluations, lock_evaluations
from models.queue.kinds.corpus_statistics_plan import protocols_awaiting_statistics
from models.queue.kinds.reductions import REDUCTION, enqueue_reductions
from models.queue.task_kind import Claim, Failure, Ready, TaskKind, Together
from models.schema.base import BLOCK_SEGMENTS, now
from models.schema.column_types import kept
from models.schema.corpus import Submission
from models.schema.queue import Evaluation, Shard, ShardEvaluation
from models.schema.results import ReplicatePart, Statistics
from models.schema.states import OPEN, UNSCORED, EvaluationState
from models.storage.blobs import Blob, columns

Blocks = tuple[int, int]
"""The first block of a range, and the one after the last."""

COPIED = ("protocol_id", "first_block", "last_block", "queue_class", "team", "metrics", "due_at", "edition", "trace")
"""Columns of a shard that those it is split into have, too."""


@dataclass(frozen=True, slots=True)
class ClaimedShard(Claim):
    """A shard under our lease."""

    protocol_id: int
    first_block: int
    last_block: int
    evaluations: tuple[int, ...]
    texts: tuple[int, ...]
    """The output of each evaluation's system, as a text id."""
    metrics: tuple[int, ...] | None = None
    """Positions, in the protocol's list, of the metrics to measure; None for all of them."""

    def log_fields(self) -> dict[str, Any]:
        """As `Claim`."""
        return {"protocol": self.protocol_id, "evaluations": self.evaluations}


@dataclass(frozen=True, slots=True)
class ShardRow:
    """The statistics of one evaluation and one metric."""

    evaluation_id: int
    metric: int
    statistics: Blob
    replicate_part: Blob | None


@dataclass(frozen=True, slots=True)
class ShardTiming:
    """The computing time of a shard, in seconds."""

    kernel_seconds: float
    metric_seconds: tuple[float, ...]
    """Of each of its metrics, in order."""


@dataclass(frozen=True, slots=True)
class ScoredShard:
    """The result of a shard."""

    rows: Sequence[ShardRow]
    timing: ShardTiming | None = None


def _load(connection: Connection, claims: Sequence[Claim]) -> list[ClaimedShard]:
    rows = connection.execute(
        select(
            Shard.id,
            Shard.protocol_id,
            Shard.first_block,
            Shard.last_block,
            Shard.metrics,
            Evaluation.id.label("evaluation_id"),
            Evaluation.state,
            Submission.text_id,
        )
        .join(ShardEvaluation, ShardEvaluation.shard_id == Shard.id)
        .join(Evaluation, Evaluation.id == ShardEvaluation.evaluation_id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .where(Shard.id.in_([claim.key for claim in claims]), Evaluation.state.in_(UNSCORED))
        .order_by(Shard.id, Evaluation.id)
    ).all()
    if queued := {row.evaluation_id for row in rows if row.state == EvaluationState.QUEUED}:
        _start(connection, queued)
    of_shards: dict[int, list[Any]] = {}
    for row in rows:
        of_shards.setdefault(row.id, []).append(row)
    return [_loaded(claim, of_shards[claim.key]) for claim in claims if claim.key in of_shards]


def _start(connection: Connection, evaluations: Collection[int]) -> None:
    """Mark evaluations as running, but for those that another process changes just now.

    Nobody need wait for that one: it marks them itself, ends them, or counts a shard, which marks them, too.
    """
    free = (
        select(Evaluation.id)
        .where(Evaluation.id.in_(sorted(evaluations)), Evaluation.state == EvaluationState.QUEUED)
        .order_by(Evaluation.id)
        .with_for_update(key_share=True, skip_locked=True)
    )
    connection.execute(
        update(Evaluation)
        .where(Evaluation.id.in_(free.scalar_subquery()))
        .values(state=EvaluationState.RUNNING, started_at=now())
    )


def _loaded(claim: Claim, rows: Sequence[Any]) -> ClaimedShard:
    """A shard with the row of each of its evaluations."""
    return ClaimedShard(
        *claim.identity,
        protocol_id=rows[0].protocol_id,
        first_block=rows[0].first_block,
        last_block=rows[0].last_block,
        evaluations=tuple(row.evaluation_id for row in rows),
        texts=tuple(row.text_id for row in rows),
        metrics=None if rows[0].metrics is None else kept(rows[0].metrics, tuple),
    )


def _columns(_claim: ClaimedShard, scored: ScoredShard) -> Mapping[str, object]:
    return {} if scored.timing is None else asdict(scored.timing)


def _complete(connection: Connection, done: Sequence[tuple[ClaimedShard, ScoredShard]]) -> list[Ready]:
    """Store the results, and move complete evaluations to `reducing`: those of one protocol share new reductions."""
    protocols = {evaluation: claim.protocol_id for claim, _ in done for evaluation in claim.evaluations}
    # A reset, which gives an evaluation other shards, waits from here to the commit, and so does a recount; other
    # shards of the evaluation wait for its counter only, which therefore comes last.
    waiting = lock_evaluations(connection, sorted(protocols), UNSCORED, shared=True)
    members = _members(connection, [claim.key for claim, _ in done], waiting)
    store_results(
        connection,
        [
            (
                (claim.first_block, claim.last_block),
                [row for row in scored.rows if (claim.key, row.evaluation_id) in members],
            )
            for claim, scored in done
        ],
    )
    complete = _count(connection, Counter(evaluation for _, evaluation in members))
    by_protocol = groupby(sorted(complete, key=lambda each: (protocols[each], each)), key=protocols.__getitem__)
    return [
        (REDUCTION, reduction)
        for _, together in by_protocol
        for reduction in enqueue_reductions(connection, list(together))
    ]


def _members(connection: Connection, shards: Sequence[int], evaluations: Sequence[int]) -> set[tuple[int, int]]:
    """Which of the shards belong to which of the evaluations now: one that was reset meanwhile has others."""
    if not evaluations:
        return set()
    pairs = select(ShardEvaluation.shard_id, ShardEvaluation.evaluation_id).where(
        ShardEvaluation.shard_id.in_(shards), ShardEvaluation.evaluation_id.in_(evaluations)
    )
    return {(row.shard_id, row.evaluation_id) for row in connection.execute(pairs)}


def _count(connection: Connection, shards: Mapping[int, int]) -> list[int]:
    """Subtract so many shards from the counter of each evaluation; those of which none is left."""
    if not shards:
        return []
    # A counter, never "no unfinished shard exists": the last two shards would each see the other.
    numbers = set(shards.values())
    number = case(dict(shards), value=Evaluation.id) if len(numbers) > 1 else literal(numbers.pop())
    chosen = Evaluation.id.in_(sorted(shards))
    if len(shards) > 1:
        # Two processes that count shards of the same evaluations lock them in one order.
        ordered = select(Evaluation.id).where(chosen).order_by(Evaluation.id).with_for_update(key_share=True)
        chosen = Evaluation.id.in_(ordered.scalar_subquery())
    counted = connection.execute(
        update(Evaluation)
        .where(chosen, Evaluation.state.in_(UNSCORED))
        .values(
            remaining=Evaluation.remaining - number,
            state=EvaluationState.RUNNING,
            started_at=func.coalesce(Evaluation.started_at, now()),
        )
        .returning(Evaluation.id, Evaluation.remaining)
    )
    return sorted(row.id for row in counted if not row.remaining)


def _exhausted(connection: Connection, shard: Row[Any], failure: Failure) -> None:
    """Fail a single evaluation; give each of several a shard of its own, with fresh attempts.

    So one bad text does not fail the others.
    """
    members = select(ShardEvaluation.evaluation_id).where(ShardEvaluation.shard_id == shard.id)
    waiting = lock_evaluations(connection, list(connection.scalars(members)), UNSCORED)
    if len(waiting) == 1:
        first, last = shard.first_block * BLOCK_SEGMENTS + 1, shard.last_block * BLOCK_SEGMENTS
        reason = failure.describe(f"Segments {first} to {last} could not be scored")
        fail_evaluations(connection, waiting, reason, fault=failure.fault)
        return
    for evaluation in waiting:
        values = {name: shard._mapping[name] for name in COPIED}
        inserted = insert(Shard).values(**values, cost=shard.cost / len(waiting)).returning(Shard.id)
        split = connection.execute(inserted).scalar_one()
        connection.execute(insert(ShardEvaluation).values(shard_id=split, evaluation_id=evaluation))


def _removable() -> ColumnElement[bool]:
    # The progress of an open evaluation is read from all of its shards.
    return ~exists().where(
        ShardEvaluation.shard_id == Shard.id,
        Evaluation.id == ShardEvaluation.evaluation_id,
        Evaluation.state.in_(OPEN),
    )


def _log_fields(connection: Connection, key: int) -> dict[str, Any]:
    evaluations = (
        select(ShardEvaluation.evaluation_id)
        .where(ShardEvaluation.shard_id == key)
        .order_by(ShardEvaluation.evaluation_id)
    )
    return {
        "protocol": connection.scalar(select(Shard.protocol_id).where(Shard.id == key)),
        "evaluations": list(connection.scalars(evaluations)),
    }


def store_results(connection: Connection, results: Iterable[tuple[Blocks, Sequence[ShardRow]]]) -> None:
    """Store the statistics of ranges of blocks, and their replicate parts if there are any."""

    def row(blocks: Blocks, result: ShardRow, blob: Blob) -> dict[str, Any]:
        return {
            "evaluation_id": result.evaluation_id,
            "metric": result.metric,
            "first_block": blocks[0],
            "last_block": blocks[1],
            **columns(blob),
        }

    every = [(blocks, result) for blocks, some in results for result in some]
    values = ("last_block", "blob", "object_url")
    statistics = [row(blocks, result, result.statistics) for blocks, result in every]
    upsert_blobs(connection, Statistics, statistics, values)
    parts = [
        row(blocks, result, result.replicate_part) for blocks, result in every if result.replicate_part is not None
    ]
    upsert_blobs(connection, ReplicatePart, parts, values)


SHARD = TaskKind(
    name="shards",
    table=Shard,
    message="score_shard",
    run="worker.runners:score",
    columns=_columns,
    together=Together(_load, _complete),
    exhausted=_exhausted,
    removable=_removable,
    log_fields=_log_fields,
    cost=Shard.cost,
    # It may have been preempted.
    took=Shard.kernel_seconds,
    # Usually the index excludes them (`NOT_YET`), but not those of an earlier release.
    waits=lambda edition: Shard.protocol_id.in_(protocols_awaiting_statistics(edition)),
    retried_after_timeout=False,
)
