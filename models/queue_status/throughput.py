"""The throughput of shards, and the estimated time for the remaining ones."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, case, func, select

from models.schema.base import BLOCK_SEGMENTS, now
from models.schema.corpus import Protocol, TestSet
from models.schema.queue import Shard, ShardEvaluation
from models.schema.states import IN_FLIGHT, LeaseState

LAST_SECONDS = 60.0
"""The time window of the throughput."""

RECENT_SHARDS = 200
"""The number of recent shards that calibrate estimates."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """The throughput of the last minute."""

    shards: int
    hypotheses: int
    """Segments × systems of these shards."""


def read_throughput(connection: Connection) -> Throughput:
    """The throughput of the last minute, by the database's clock."""
    end = Shard.last_block * BLOCK_SEGMENTS
    segments = case((end > TestSet.segments, TestSet.segments), else_=end) - Shard.first_block * BLOCK_SEGMENTS
    done = (
        select((segments * func.count(ShardEvaluation.evaluation_id)).label("hypotheses"))
        .select_from(Shard)
        .join(Protocol, Protocol.id == Shard.protocol_id)
        .join(TestSet, TestSet.id == Protocol.test_set_id)
        .outerjoin(ShardEvaluation, ShardEvaluation.shard_id == Shard.id)
        .where(Shard.ended_at >= now() - LAST_SECONDS, Shard.state == LeaseState.DONE)
        .group_by(Shard.id, TestSet.segments)
        .subquery()
    )
    row = connection.execute(select(func.count(), func.sum(done.c.hypotheses))).one()
    return Throughput(row[0], int(row[1] or 0))


def estimate_seconds_left(connection: Connection, processes: int, other_work: bool) -> float | None:
    """Estimated seconds until all shards are done, from their costs and the number of processes.

    The estimates are corrected by recent measurements. None without processes, or if only `other_work` is left, which
    has no estimate.
    """
    if not processes:
        return None
    waiting = connection.execute(
        select(func.coalesce(func.sum(Shard.cost), 0.0), func.coalesce(func.max(Shard.cost), 0.0)).where(
            Shard.state == LeaseState.PENDING
        )
    ).one()
    handed_out = connection.execute(
        select(
            Shard.cost,
            Shard.state,
            Shard.worker,
            Shard.claimed_at,
            (now() - Shard.claimed_at).label("seconds"),
        ).where(Shard.state.in_(IN_FLIGHT))
    ).all()
    if not waiting[0] and not handed_out:
        return None if other_work else 0.0
    measured, estimated = _recent(connection)
    if not measured or not estimated:
        # Nothing is done yet: shards that exceed their estimates give a lower bound.
        running = [row for row in handed_out if row.state == LeaseState.RUNNING]
        # Those that were claimed together share the time.
        since = {(row.worker, row.claimed_at): max(row.seconds or 0.0, 0.0) for row in running}
        measured, estimated = sum(since.values()), sum(row.cost for row in running)
        measured = max(measured, estimated)
    ratio = measured / estimated if estimated else 1.0
    remaining = [
        max(0.0, row.cost * ratio - (max(row.seconds or 0.0, 0.0) if row.state == LeaseState.RUNNING else 0.0))
        for row in handed_out
    ]
    # With fewer shards than processes, the longest one decides.
    longest = max([waiting[1] * ratio, *remaining])
    return float(max((waiting[0] * ratio + sum(remaining)) / processes, longest))


def measured_ratio(connection: Connection) -> float:
    """The ratio of measured to estimated time of recent shards; 1 without any."""
    measured, estimated = _recent(connection)
    return measured / estimated if measured and estimated else 1.0


def _recent(connection: Connection) -> tuple[float, float]:
    """Measured and estimated seconds of recent shards, in total."""
    recent = (
        select(Shard.worker, Shard.claimed_at, Shard.ended_at, Shard.cost)
        # Skip shards during which the clock was set back.
        .where(Shard.ended_at >= Shard.claimed_at, Shard.state == LeaseState.DONE)
        .order_by(Shard.ended_at.desc())
        .limit(RECENT_SHARDS)
        .subquery()
    )
    # Those that were claimed together share the time.
    shared = (
        select(
            (func.max(recent.c.ended_at) - recent.c.claimed_at).label("seconds"), func.sum(recent.c.cost).label("cost")
        )
        .group_by(recent.c.worker, recent.c.claimed_at)
        .subquery()
    )
    measured, estimated = connection.execute(select(func.sum(shared.c.seconds), func.sum(shared.c.cost))).one()
    return float(measured or 0.0), float(estimated or 0.0)
