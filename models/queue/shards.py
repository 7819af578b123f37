"""The life of a shard: claimed, completed, released.

Each function is one short transaction's worth of work on the connection it gets. Locks are always
taken in the order shard, then evaluations by id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, exists, insert, select, update

from models.database.upsert import insert_or_replace
from models.queue.evaluation_end import fail_evaluations, fault_of, lock_evaluations
from models.queue.lease import close, finish, put_back, take
from models.schema.base import BLOCK_SEGMENTS, now
from models.schema.corpus import Submission
from models.schema.queue import Evaluation, Reduction, Shard, ShardEvaluation
from models.schema.results import ReplicatePart, Statistics
from models.schema.states import UNSCORED, EvaluationState, LeaseState
from models.storage.blobs import Blob, columns


@dataclass(frozen=True, slots=True)
class ClaimedShard:
    """A shard that is ours until its lease is over."""

    shard_id: int
    owner: str
    protocol_id: int
    first_block: int
    last_block: int
    evaluations: tuple[int, ...]
    texts: tuple[int, ...]
    """The system output of each evaluation, as a text id."""
    metrics: tuple[int, ...] | None = None
    """Positions in the protocol's list of the metrics that are lacking; None for all of them."""


@dataclass(frozen=True, slots=True)
class ShardRow:
    """What a shard stores for one evaluation and one metric."""

    evaluation_id: int
    metric: int
    statistics: Blob
    replicate_part: Blob | None


@dataclass(frozen=True, slots=True)
class ShardTiming:
    """How long the numeric work of a shard took, in seconds."""

    kernel_seconds: float
    metric_seconds: tuple[float, ...]
    """Of each of its metrics, in their order."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What came of handing in a shard."""

    accepted: bool
    """False when somebody else had taken the shard over."""
    reduction: int | None = None
    """The pending reduction of the evaluations that became complete with this shard."""


def claim_shard(
    connection: Connection,
    shard_id: int,
    *,
    owner: str,
    worker: str,
    lease_seconds: float,
    max_attempts: int,
    edition: int | None = None,
) -> ClaimedShard | None:
    """Try to become the one who works on a shard; None when somebody else is, or nobody needs it."""
    if not take(
        connection,
        Shard,
        shard_id,
        owner=owner,
        worker=worker,
        lease_seconds=lease_seconds,
        max_attempts=max_attempts,
        edition=edition,
    ):
        return None
    rows = connection.execute(
        select(
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
        .where(Shard.id == shard_id, Evaluation.state.in_(UNSCORED))
        .order_by(Evaluation.id)
    ).all()
    if not rows:
        close(connection, Shard, [shard_id], LeaseState.CANCELLED, None)
        return None
    queued = [row.evaluation_id for row in rows if row.state == EvaluationState.QUEUED]
    if queued:
        connection.execute(
            update(Evaluation)
            .where(Evaluation.id.in_(lock_evaluations(connection, queued, [EvaluationState.QUEUED])))
            .values(state=EvaluationState.RUNNING, started_at=now())
        )
    return ClaimedShard(
        shard_id=shard_id,
        owner=owner,
        protocol_id=rows[0].protocol_id,
        first_block=rows[0].first_block,
        last_block=rows[0].last_block,
        evaluations=tuple(row.evaluation_id for row in rows),
        texts=tuple(row.text_id for row in rows),
        metrics=None if rows[0].metrics is None else tuple(rows[0].metrics),
    )


def complete_shard(
    connection: Connection, claim: ClaimedShard, results: Sequence[ShardRow], timing: ShardTiming | None = None
) -> Completion:
    """Hand in a shard: store its results, and send evaluations that are complete to `reducing`.

    The evaluations that became complete share one new pending reduction. `timing` is stored with the shard.
    """
    times = {} if timing is None else asdict(timing)
    if not finish(connection, Shard, claim.shard_id, claim.owner, **times):
        return Completion(accepted=False)
    # All shards of an evaluation wait for each other from here to the commit, so little is said in between.
    waiting = lock_evaluations(connection, claim.evaluations, UNSCORED)
    # An evaluation that was put back to queued meanwhile has other shards now: looked up once the lock is held.
    still_ours = exists().where(
        ShardEvaluation.shard_id == claim.shard_id, ShardEvaluation.evaluation_id == Evaluation.id
    )
    # A counter, never "no unfinished shard exists": two last shards would each see the other.
    counted = connection.execute(
        update(Evaluation)
        .where(Evaluation.id.in_(waiting), still_ours)
        .values(remaining=Evaluation.remaining - 1, state=EvaluationState.RUNNING)
        .returning(Evaluation.id, Evaluation.remaining)
    )
    remaining = {row.id: row.remaining for row in counted}
    _store(connection, claim, [row for row in results if row.evaluation_id in remaining])
    complete = sorted(evaluation for evaluation, shards in remaining.items() if not shards)
    reduction = start_reducing(connection, complete) if complete else None
    return Completion(accepted=True, reduction=reduction)


def start_reducing(connection: Connection, evaluations: Sequence[int]) -> int:
    """Give evaluations of one protocol and edition, whose shards are all done, a new pending reduction; its id."""
    first = connection.execute(
        select(
            Evaluation.protocol_id, Evaluation.queue_class, Evaluation.team, Evaluation.due_at, Evaluation.edition
        ).where(Evaluation.id == evaluations[0])
    ).one()
    inserted = insert(Reduction).values(**first._mapping).returning(Reduction.id)
    reduction = connection.execute(inserted).scalar_one()
    connection.execute(
        update(Evaluation)
        .where(Evaluation.id.in_(evaluations))
        .values(state=EvaluationState.REDUCING, reduction_id=reduction)
    )
    return reduction


def release_shard(
    connection: Connection,
    shard_id: int,
    owner: str,
    reason: str,
    *,
    max_attempts: int,
    delay_seconds: float,
    permanent: bool = False,
) -> bool:
    """Take a shard from an owner that could not finish it; False when it was not his any more.

    It goes back to pending, `delay_seconds` longer each time. Out of attempts (or at once when the
    error is `permanent`), a shard of several evaluations is split into one shard for each, with
    fresh attempts, so that one bad text does not take the others with it; a shard of a single
    evaluation fails that evaluation.
    """
    shard = connection.execute(
        select(Shard)
        .where(Shard.id == shard_id, Shard.owner == owner, Shard.state == LeaseState.RUNNING)
        .with_for_update()
    ).one_or_none()
    if shard is None:
        return False
    if shard.attempts < max_attempts and not permanent:
        put_back(connection, Shard, shard_id, reason=reason, delay_seconds=delay_seconds * shard.attempts)
        return True
    close(connection, Shard, [shard_id], LeaseState.FAILED, reason)
    members = select(ShardEvaluation.evaluation_id).where(ShardEvaluation.shard_id == shard_id)
    waiting = lock_evaluations(connection, list(connection.scalars(members)), UNSCORED)
    if len(waiting) == 1:
        first, last = shard.first_block * BLOCK_SEGMENTS + 1, shard.last_block * BLOCK_SEGMENTS
        tries = f"tried {shard.attempts} times" if shard.attempts > 1 else "tried once"
        failed = f"Segments {first} to {last} could not be scored ({tries}): {reason}"
        fail_evaluations(connection, waiting, failed, fault=fault_of(permanent=permanent))
        return True
    for evaluation in waiting:
        copied = ("protocol_id", "first_block", "last_block", "queue_class", "team", "metrics", "due_at", "edition")
        values = {name: shard._mapping[name] for name in copied}
        inserted = insert(Shard).values(**values, cost=shard.cost / len(waiting)).returning(Shard.id)
        split = connection.execute(inserted).scalar_one()
        connection.execute(insert(ShardEvaluation).values(shard_id=split, evaluation_id=evaluation))
    return True


def _store(connection: Connection, claim: ClaimedShard, results: Sequence[ShardRow]) -> None:
    def row(result: ShardRow, blob: Blob) -> dict[str, Any]:
        return {
            "evaluation_id": result.evaluation_id,
            "metric": result.metric,
            "first_block": claim.first_block,
            "last_block": claim.last_block,
            **columns(blob),
        }

    values = ("last_block", "blob", "object_url")
    statistics = [row(result, result.statistics) for result in results]
    insert_or_replace(connection, Statistics, statistics, values)
    parts = [row(result, result.replicate_part) for result in results if result.replicate_part is not None]
    insert_or_replace(connection, ReplicatePart, parts, values)
