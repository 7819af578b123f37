"""How far evaluations have come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from models.evaluation import Evaluation
from models.shard import Shard, ShardEvaluation
from models.states import EvaluationState, LeaseState


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts of evaluations and of the shards that work for them."""

    queued: int
    running: int
    reducing: int
    done: int
    failed: int
    cancelled: int
    shards: int
    """Shards that count: all but those that were split or cancelled."""
    shards_done: int

    @property
    def open(self) -> int:
        """Evaluations that will still change by themselves."""
        return self.queued + self.running + self.reducing


def read_progress(connection: Connection, evaluations: Sequence[int]) -> Progress:
    """The counts for these evaluations."""
    by_state = select(Evaluation.state, func.count().label("amount")).where(Evaluation.id.in_(evaluations))
    states = {row.state: row.amount for row in connection.execute(by_state.group_by(Evaluation.state))}
    theirs = select(ShardEvaluation.shard_id).where(ShardEvaluation.evaluation_id.in_(evaluations))
    by_shard = select(Shard.state, func.count().label("amount")).where(Shard.id.in_(theirs)).group_by(Shard.state)
    shards = {row.state: row.amount for row in connection.execute(by_shard)}
    return Progress(
        **{state.value: states.get(state, 0) for state in EvaluationState},
        shards=sum(count for state, count in shards.items() if state not in {LeaseState.FAILED, LeaseState.CANCELLED}),
        shards_done=shards.get(LeaseState.DONE, 0),
    )
