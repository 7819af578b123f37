"""How evaluations end without scores: failed with a reason, or cancelled."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, exists, select, update

from models.queue.lease import cancel_idle
from models.schema.base import now
from models.schema.queue import Evaluation, Preparation, ProtocolState, Shard, ShardEvaluation
from models.schema.states import OPEN, UNSCORED, EvaluationState, Fault


def lock_evaluations(
    connection: Connection, evaluations: Sequence[int], states: Sequence[EvaluationState]
) -> list[int]:
    """Of these evaluations, those in one of the states, held until the transaction ends.

    Always locked in the order of their ids: two transactions that took them in different orders
    would wait for each other for ever.
    """
    if not evaluations:
        return []
    rows = connection.scalars(
        select(Evaluation.id)
        .where(Evaluation.id.in_(evaluations), Evaluation.state.in_(states))
        .order_by(Evaluation.id)
        .with_for_update()
    )
    return list(rows)


def fail_evaluations(
    connection: Connection, evaluations: Sequence[int], reason: str, *, fault: Fault = Fault.PLATFORM
) -> list[int]:
    """Fail those of the evaluations that are still open, with a reason; which they were.

    With a fault of the platform, the attempts of teams that asked for them are given back
    (`campaigns.quotas.usage_log`).
    """
    return _end(connection, evaluations, EvaluationState.FAILED, reason, fault)


def cancel_evaluations(
    connection: Connection, evaluations: Sequence[int], reason: str | None = None, *, counts: bool = False
) -> list[int]:
    """Cancel those of the evaluations that are still open; which they were.

    The attempts of teams that asked for them are given back unless they are to count (`campaigns.quotas.usage_log`).
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
        _cancel_idle_preparations(connection, ended)
    return ended


def _cancel_idle_shards(connection: Connection, evaluations: Sequence[int]) -> None:
    waiting_evaluation = exists().where(
        ShardEvaluation.shard_id == Shard.id,
        Evaluation.id == ShardEvaluation.evaluation_id,
        Evaluation.state.in_(UNSCORED),
    )
    touched = select(ShardEvaluation.shard_id).where(ShardEvaluation.evaluation_id.in_(evaluations))
    cancel_idle(connection, Shard, Shard.id.in_(touched), ~waiting_evaluation)


def _cancel_idle_preparations(connection: Connection, evaluations: Sequence[int]) -> None:
    touched = (
        select(ProtocolState.prepared_state_id)
        .join(Evaluation, Evaluation.protocol_id == ProtocolState.protocol_id)
        .where(Evaluation.id.in_(evaluations))
    )
    waiting_evaluation = exists().where(
        ProtocolState.prepared_state_id == Preparation.prepared_state_id,
        Evaluation.protocol_id == ProtocolState.protocol_id,
        Evaluation.edition == Preparation.edition,
        Evaluation.state.in_(UNSCORED),
    )
    # One that is cancelled while somebody queues an evaluation that needs it, of which we cannot know yet, is made anew
    # by the next sweep.
    cancel_idle(connection, Preparation, Preparation.prepared_state_id.in_(touched), ~waiting_evaluation)
