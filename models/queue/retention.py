"""Deleting rows of work that ended long ago. Results (statistics, states, scores, tests) do not rest on them."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, Select, delete, exists, or_, select, update

from models.schema.base import now
from models.schema.queue import (
    Comparison,
    Evaluation,
    Leased,
    Preparation,
    PreparedState,
    Reduction,
    Shard,
    ShardEvaluation,
    Trials,
)
from models.schema.states import OPEN, ComparisonState, EvaluationState, LeaseState

CLOSED = (LeaseState.DONE, LeaseState.FAILED, LeaseState.CANCELLED)

HOUR = 3600.0
"""Long enough ago that nobody takes it for work of these minutes."""

LEASED: tuple[type[Leased], ...] = (Shard, Reduction, Preparation, Trials)


def date_closed(connection: Connection) -> int:
    """Say that rows without a time of their end, from workers of an earlier release, ended an hour ago; how many."""
    undated = 0
    for table in LEASED:
        without = (table.state.in_(CLOSED), table.ended_at.is_(None))
        undated += connection.execute(update(table).where(*without).values(ended_at=now() - HOUR)).rowcount
    return undated


def forget_ended(connection: Connection, keep_seconds: float, most: int) -> dict[str, int]:
    """Delete at most so many rows of each kind of work that ended so long ago; how many of each table."""
    return {
        table.__tablename__: forget(connection, keep_seconds, most)
        for table, forget in (
            (Shard, _shards),
            (Reduction, _reductions),
            (Preparation, _preparations),
            (Trials, _trials),
            (Comparison, _comparisons),
        )
    }


def _shards(connection: Connection, keep_seconds: float, most: int) -> int:
    # How far an open evaluation has come is read from all its shards.
    open_evaluation = exists().where(
        ShardEvaluation.shard_id == Shard.id,
        Evaluation.id == ShardEvaluation.evaluation_id,
        Evaluation.state.in_(OPEN),
    )
    return _delete(connection, Shard, _old(Shard, keep_seconds, most, ~open_evaluation))


def _reductions(connection: Connection, keep_seconds: float, most: int) -> int:
    waiting = exists().where(Evaluation.reduction_id == Reduction.id, Evaluation.state == EvaluationState.REDUCING)
    old = list(connection.scalars(_old(Reduction, keep_seconds, most, ~waiting)))
    if not old:
        return 0
    theirs = select(Evaluation.id).where(Evaluation.reduction_id.in_(old)).order_by(Evaluation.id).with_for_update()
    connection.execute(
        update(Evaluation).where(Evaluation.id.in_(list(connection.scalars(theirs)))).values(reduction_id=None)
    )
    return connection.execute(delete(Reduction).where(Reduction.id.in_(old))).rowcount


def _preparations(connection: Connection, keep_seconds: float, most: int) -> int:
    # A part that is not merged yet is no row of work alone: it is what was counted.
    merged = exists().where(PreparedState.id == Preparation.prepared_state_id, PreparedState.blob.is_not(None))
    idle = or_(Preparation.state != LeaseState.DONE, merged)
    return _delete(connection, Preparation, _old(Preparation, keep_seconds, most, idle))


def _trials(connection: Connection, keep_seconds: float, most: int) -> int:
    ended = exists().where(Comparison.id == Trials.comparison_id, Comparison.state != ComparisonState.RUNNING)
    return _delete(connection, Trials, _old(Trials, keep_seconds, most, ended))


def _comparisons(connection: Connection, keep_seconds: float, most: int) -> int:
    trials = exists().where(Trials.comparison_id == Comparison.id)
    old = (
        select(Comparison.id)
        .where(Comparison.state != ComparisonState.RUNNING, Comparison.finished_at < now() - keep_seconds, ~trials)
        .order_by(Comparison.finished_at)
        .limit(most)
    )
    return _delete(connection, Comparison, old)


def _old(table: type[Leased], keep_seconds: float, most: int, *conditions: ColumnElement[bool]) -> Select[int]:
    return (
        select(table.id)
        .where(table.state.in_(CLOSED), table.ended_at < now() - keep_seconds, *conditions)
        .order_by(table.ended_at)
        .limit(most)
        .with_for_update(skip_locked=True)
    )


def _delete(connection: Connection, table: type[Leased] | type[Comparison], which: Select[int]) -> int:
    keys = list(connection.scalars(which))
    return connection.execute(delete(table).where(table.id.in_(keys))).rowcount if keys else 0
