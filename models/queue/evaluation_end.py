"""Ends evaluations without scores: failed with a reason, or cancelled."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, exists, func, select, update

from models.queue.lease import cancel_idle
from models.schema.base import now
from models.schema.learned import LearnedColumn, LearnedShard, LearnedShardEvaluation
from models.schema.queue import CorpusCount, Evaluation, ProtocolStatistics, Shard, ShardEvaluation
from models.schema.states import OPEN, UNSCORED, ColumnState, EvaluationState, Fault


def lock_evaluations(
    connection: Connection, evaluations: Sequence[int], states: Sequence[EvaluationState], *, shared: bool = False
) -> list[int]:
    """Lock these evaluations, if in one of the states, until the transaction ends; their ids.

    Always in the order of their ids: transactions with different orders would deadlock. Several may hold a
    `shared` lock at once: it keeps out those who would lock the rows wholly, but no change of a counter.
    """
    if not evaluations:
        return []
    rows = connection.scalars(
        select(Evaluation.id)
        .where(Evaluation.id.in_(evaluations), Evaluation.state.in_(states))
        .order_by(Evaluation.id)
        .with_for_update(read=shared, key_share=shared)
    )
    return list(rows)


def fail_evaluations(
    connection: Connection, evaluations: Sequence[int], reason: str, *, fault: Fault = Fault.PLATFORM
) -> list[int]:
    """Fail those of the evaluations that are still open; their ids.

    After a fault of the platform, the submissions are credited back to the quotas of their teams
    (`campaigns.quotas.usage_log`).
    """
    return _end(connection, evaluations, EvaluationState.FAILED, reason, fault)


def cancel_evaluations(
    connection: Connection, evaluations: Sequence[int], reason: str | None = None, *, counts: bool = False
) -> list[int]:
    """Cancel those of the evaluations that are still open; their ids.

    The submissions are credited back to the quotas of their teams unless `counts` (`campaigns.quotas.usage_log`).
    """
    return _end(connection, evaluations, EvaluationState.CANCELLED, reason, Fault.INPUT if counts else None)


def _end(
    connection: Connection,
    evaluations: Sequence[int],
    state: EvaluationState,
    reason: str | None,
    fault: Fault | None,
) -> list[int]:
    ended = lock_evaluations(connection, evaluations, OPEN)
    if ended:
        connection.execute(
            update(Evaluation)
            .where(Evaluation.id.in_(ended))
            .values(state=state, reason=reason, fault=fault, finished_at=now())
        )
        _cancel_idle_shards(connection, ended)
        _end_columns(connection, ended, reason)
        _cancel_idle_counts(connection, ended)
    return ended


def _cancel_idle_shards(connection: Connection, evaluations: Sequence[int]) -> None:
    waiting_evaluation = exists().where(
        ShardEvaluation.shard_id == Shard.id,
        Evaluation.id == ShardEvaluation.evaluation_id,
        Evaluation.state.in_(UNSCORED),
    )
    touched = select(ShardEvaluation.shard_id).where(ShardEvaluation.evaluation_id.in_(evaluations))
    cancel_idle(connection, Shard, Shard.id.in_(touched), ~waiting_evaluation)


def _end_columns(connection: Connection, evaluations: Sequence[int], reason: str | None) -> None:
    """End what waits for models and programs: nobody would see it."""
    waiting = (LearnedColumn.evaluation_id.in_(evaluations), LearnedColumn.state == ColumnState.WAITING)
    if not connection.scalar(select(func.count()).select_from(LearnedColumn).where(*waiting)):
        return
    connection.execute(
        update(LearnedColumn)
        .where(*waiting)
        .values(state=ColumnState.FAILED, reason=reason or "The evaluation was cancelled.", finished_at=now())
    )
    still_waiting = exists().where(
        LearnedShardEvaluation.learned_shard_id == LearnedShard.id,
        LearnedColumn.evaluation_id == LearnedShardEvaluation.evaluation_id,
        LearnedColumn.metric == LearnedShard.metric,
        LearnedColumn.state == ColumnState.WAITING,
    )
    touched = select(LearnedShardEvaluation.learned_shard_id).where(
        LearnedShardEvaluation.evaluation_id.in_(evaluations)
    )
    cancel_idle(connection, LearnedShard, LearnedShard.id.in_(touched), ~still_waiting)


def _cancel_idle_counts(connection: Connection, evaluations: Sequence[int]) -> None:
    touched = (
        select(ProtocolStatistics.corpus_statistics_id)
        .join(Evaluation, Evaluation.protocol_id == ProtocolStatistics.protocol_id)
        .where(Evaluation.id.in_(evaluations))
    )
    waiting_evaluation = exists().where(
        ProtocolStatistics.corpus_statistics_id == CorpusCount.corpus_statistics_id,
        Evaluation.protocol_id == ProtocolStatistics.protocol_id,
        Evaluation.edition == CorpusCount.edition,
        Evaluation.state.in_(UNSCORED),
    )
    # If a count is cancelled while another transaction enqueues an evaluation that needs it, which we cannot see yet,
    # the next sweep adds it again.
    cancel_idle(connection, CorpusCount, CorpusCount.corpus_statistics_id.in_(touched), ~waiting_evaluation)
