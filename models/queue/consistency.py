"""Consistency of counters of open work: whether evaluations and comparisons wait for exactly the tasks that exist.

Counter and tasks change in one transaction, so they differ only in a database edited or restored by hand.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, func, or_, select, update

from models.queue.evaluation_end import lock_evaluations
from models.queue.kinds.reductions import enqueue_reductions
from models.schema.base import now
from models.schema.learned import LearnedColumn, LearnedShard, LearnedShardEvaluation
from models.schema.queue import RUNNING, Comparison, Evaluation, Shard, ShardEvaluation, Trials
from models.schema.states import IN_FLIGHT, UNSCORED, ColumnState, LeaseState

LOST_SHARDS = "Its shards were deleted or edited."


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
        enqueue_reductions(connection, [evaluation])
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


def mend_columns(connection: Connection) -> int:
    """Restart the count of learned columns that wait for other shards than there are; their number.

    Those that nothing works for fail, and can be retried.
    """
    unfinished = (
        select(func.count())
        .select_from(LearnedShardEvaluation)
        .join(LearnedShard, LearnedShard.id == LearnedShardEvaluation.learned_shard_id)
        .where(
            LearnedShardEvaluation.evaluation_id == LearnedColumn.evaluation_id,
            LearnedShard.metric == LearnedColumn.metric,
            LearnedShard.state.in_((LeaseState.PENDING, *IN_FLIGHT)),
        )
    )
    scoring = unfinished.where(LearnedShard.reduces.is_(False)).scalar_subquery()
    waits = LearnedColumn.state == ColumnState.WAITING
    idle = update(LearnedColumn).where(waits, unfinished.scalar_subquery() == 0)
    lost = connection.execute(idle.values(state=ColumnState.FAILED, reason=LOST_SHARDS, finished_at=now())).rowcount
    wrong = update(LearnedColumn).where(waits, scoring > 0, LearnedColumn.remaining != scoring)
    return lost + connection.execute(wrong.values(remaining=scoring)).rowcount
