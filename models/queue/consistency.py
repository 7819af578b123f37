"""Consistency of counters of open work: whether evaluations and comparisons wait for exactly the tasks that exist.

Counter and tasks change in one transaction, so they differ only in a database edited or restored by hand.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, func, or_, select, update

from models.queue.evaluation_end import lock_evaluations
from models.queue.kinds.reductions import enqueue_reduction
from models.schema.queue import RUNNING, Comparison, Evaluation, Shard, ShardEvaluation, Trials
from models.schema.states import IN_FLIGHT, UNSCORED, LeaseState


def find_inconsistent(connection: Connection) -> list[int]:
    """Evaluations whose `remaining` differs from their number of unfinished shards, or is 0."""
    wrong = or_(Evaluation.remaining != _unfinished(), Evaluation.remaining == 0)
    rows = select(Evaluation.id).where(Evaluation.state.in_(UNSCORED), wrong)
    return list(connection.scalars(rows.order_by(Evaluation.id)))


def recount(connection: Connection, evaluation: int) -> tuple[int, int] | None:
    """Recompute `remaining` of an evaluation from its shards: (before, now); None if it was right.

    An evaluation without unfinished shards goes on to its reduction.
    """
    # A transaction that completes, splits or fails a shard holds the shard, then the evaluation, until it commits. So
    # once we hold the evaluation, and only in a later statement, shards and counter are consistent.
    if not lock_evaluations(connection, [evaluation], UNSCORED):
        return None
    row = connection.execute(
        select(Evaluation.remaining, _unfinished().label("unfinished")).where(Evaluation.id == evaluation)
    ).one()
    if row.remaining == row.unfinished != 0:
        return None
    connection.execute(update(Evaluation).where(Evaluation.id == evaluation).values(remaining=row.unfinished))
    if not row.unfinished:
        enqueue_reduction(connection, [evaluation])
    return row.remaining, row.unfinished


def find_broken_comparisons(connection: Connection) -> list[int]:
    """Running comparisons whose task rows do not cover their trials, or differ in number from `remaining`."""
    own_rows = Trials.comparison_id == Comparison.id
    waiting = Trials.state.in_((LeaseState.PENDING, *IN_FLIGHT))
    unfinished = select(func.count()).select_from(Trials).where(own_rows, waiting).scalar_subquery()
    covered = select(func.coalesce(func.sum(Trials.last_trial - Trials.first_trial), 0)).where(
        own_rows, or_(waiting, Trials.state == LeaseState.DONE)
    )
    wrong = or_(unfinished != Comparison.remaining, covered.scalar_subquery() != Comparison.trials)
    # Written as in the partial index of running comparisons: SQLite uses it only for the same expression.
    rows = select(Comparison.id).where(RUNNING, wrong)
    return sorted(connection.scalars(rows))


def _unfinished() -> ColumnElement[int]:
    return (
        select(func.count())
        .select_from(ShardEvaluation)
        .join(Shard, Shard.id == ShardEvaluation.shard_id)
        .where(
            ShardEvaluation.evaluation_id == Evaluation.id,
            Shard.state.in_((LeaseState.PENDING, *IN_FLIGHT)),
        )
        .scalar_subquery()
    )
