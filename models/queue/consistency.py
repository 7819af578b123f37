"""Whether evaluations and comparisons wait for as much work as there is, and mending where they do not.

Both change in one transaction, so they can only differ in a database that was edited or restored by hand.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, func, or_, select, update

from models.queue.evaluation_end import lock_evaluations
from models.queue.kinds.reductions import start_reducing
from models.schema.queue import RUNNING, Comparison, Evaluation, Shard, ShardEvaluation, Trials
from models.schema.states import IN_FLIGHT, UNSCORED, LeaseState


def find_miscounted(connection: Connection) -> list[int]:
    """Evaluations whose `remaining` is not the number of their unfinished shards, or that wait for none."""
    wrong = or_(Evaluation.remaining != _unfinished(), Evaluation.remaining == 0)
    rows = select(Evaluation.id).where(Evaluation.state.in_(UNSCORED), wrong)
    return list(connection.scalars(rows.order_by(Evaluation.id)))


def recount(connection: Connection, evaluation: int) -> tuple[int, int] | None:
    """Set what an evaluation waits for by its shards: (before, now); None where nothing was wrong.

    One whose shards are all done is reduced.
    """
    # Who completes, splits or fails a shard holds the shard, then the evaluation, until he commits. So with the
    # evaluation in hand, and only in a statement after that, shards and counter are both before or both after it.
    if not lock_evaluations(connection, [evaluation], UNSCORED):
        return None
    row = connection.execute(
        select(Evaluation.remaining, _unfinished().label("unfinished")).where(Evaluation.id == evaluation)
    ).one()
    if row.remaining == row.unfinished != 0:
        return None
    connection.execute(update(Evaluation).where(Evaluation.id == evaluation).values(remaining=row.unfinished))
    if not row.unfinished:
        start_reducing(connection, [evaluation])
    return row.remaining, row.unfinished


def find_broken_comparisons(connection: Connection) -> list[int]:
    """Running comparisons whose rows of trials do not cover their trials, or are not as many as they wait for."""
    theirs = Trials.comparison_id == Comparison.id
    waiting = Trials.state.in_((LeaseState.PENDING, *IN_FLIGHT))
    unfinished = select(func.count()).select_from(Trials).where(theirs, waiting).scalar_subquery()
    covered = select(func.coalesce(func.sum(Trials.last_trial - Trials.first_trial), 0)).where(
        theirs, or_(waiting, Trials.state == LeaseState.DONE)
    )
    wrong = or_(unfinished != Comparison.remaining, covered.scalar_subquery() != Comparison.trials)
    # As the index of those that run has it: SQLite takes a partial index for such words alone.
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
