"""The progress of evaluations and comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Connection, bindparam, func, select

from models.results.learned_columns import count_waiting
from models.schema.queue import Comparison, Evaluation, MetricsTaskPart, Shard, ShardEvaluation, Trials
from models.schema.states import CLOSED, ComparisonState, EvaluationState, LeaseState


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts of evaluations and of their shards."""

    queued: int
    running: int
    reducing: int
    done: int
    failed: int
    cancelled: int
    shards: int
    """Shards that count: all but split and cancelled ones."""
    shards_done: int
    columns: int = 0
    """Learned columns that wait for a model or a program."""

    @property
    def open(self) -> int:
        """The number of evaluations and learned columns that can still change."""
        return self.queued + self.running + self.reducing + self.columns


def read_progress(connection: Connection, evaluations: Sequence[int]) -> Progress:
    """The counts for these evaluations."""
    states, shards = (
        {row.state: row.amount for row in connection.execute(statement, {"evaluations": list(evaluations)})}
        for statement in _counts()
    )
    return Progress(
        **{state.value: states.get(state, 0) for state in EvaluationState},
        shards=sum(count for state, count in shards.items() if state not in {LeaseState.FAILED, LeaseState.CANCELLED}),
        shards_done=shards.get(LeaseState.DONE, 0),
        columns=count_waiting(connection, evaluations),
    )


@cache
def _counts() -> tuple[Any, Any]:
    """The statements that count evaluations and shards by state: made once, for commands ask many times a second."""
    chosen: Any = bindparam("evaluations", expanding=True)
    amount = func.count().label("amount")
    theirs = select(ShardEvaluation.shard_id).where(ShardEvaluation.evaluation_id.in_(chosen))
    return (
        select(Evaluation.state, amount).where(Evaluation.id.in_(chosen)).group_by(Evaluation.state),
        select(Shard.state, amount).where(Shard.id.in_(theirs)).group_by(Shard.state),
    )


@dataclass(frozen=True, slots=True)
class ComparisonProgress:
    """The combined progress of comparisons."""

    running: int
    done: int
    failures: tuple[str, ...]
    """The reasons of failed comparisons."""
    trials: int
    trials_done: int

    @property
    def open(self) -> int:
        """The number of comparisons that can still change."""
        return self.running


def read_comparison_progress(connection: Connection, comparisons: Sequence[int]) -> ComparisonProgress:
    """The progress of these comparisons."""
    rows = connection.execute(
        select(Comparison.state, Comparison.reason, Comparison.trials)
        .where(Comparison.id.in_(comparisons))
        .order_by(Comparison.id)
    ).all()
    states = [row.state for row in rows]
    done = connection.scalar(
        select(func.coalesce(func.sum(Trials.last_trial - Trials.first_trial), 0)).where(
            Trials.comparison_id.in_(comparisons), Trials.state == LeaseState.DONE
        )
    )
    return ComparisonProgress(
        running=states.count(ComparisonState.RUNNING),
        done=states.count(ComparisonState.DONE),
        failures=tuple(row.reason for row in rows if row.state == ComparisonState.FAILED),
        trials=sum(row.trials for row in rows),
        trials_done=int(done or 0),
    )


@dataclass(frozen=True, slots=True)
class ColumnsProgress:
    """The progress of the columns of a metrics task."""

    open: int
    """Those that can still change."""
    total: int


def read_columns_progress(connection: Connection, campaign_id: int) -> ColumnsProgress:
    """The progress of the metrics tasks of a campaign."""
    by_state = (
        select(MetricsTaskPart.state, func.count().label("amount"))
        .where(MetricsTaskPart.campaign_id == campaign_id)
        .group_by(MetricsTaskPart.state)
    )
    states = {row.state: row.amount for row in connection.execute(by_state)}
    return ColumnsProgress(sum(states[each] for each in states if each not in CLOSED), sum(states.values()))


def failure_reasons(connection: Connection, evaluations: Sequence[int]) -> list[str]:
    """The reasons why some of these evaluations failed, each once, in the evaluations' order."""
    rows = select(Evaluation.reason).where(
        Evaluation.id.in_(evaluations), Evaluation.state == EvaluationState.FAILED, Evaluation.reason.is_not(None)
    )
    return list(dict.fromkeys(connection.scalars(rows.order_by(Evaluation.id))))
