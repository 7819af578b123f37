"""Learned columns: which of a board's scores still wait for a model or a program, or will never come."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from models.corpus.protocols import protocol_segments
from models.schema.base import BLOCK_SEGMENTS
from models.schema.learned import LearnedColumn, LearnedShard, LearnedShardEvaluation
from models.schema.results import Score
from models.schema.states import ColumnState, LeaseState
from steelyard.tables.titles import distinct_titles

AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class FailedMetric:
    """A learned metric that could not score an evaluation, whose other metrics have their scores."""

    title: str
    """Distinct among the metrics of the evaluation."""
    reason: str
    """For organisers: it may name folders, or quote a hidden reference."""
    finished_at: float


@dataclass(frozen=True, slots=True)
class ColumnProgress:
    """How far a learned metric of one evaluation is."""

    state: ColumnState
    segments: int
    """Of the test set."""
    scored: int
    """Those that have scores: roughly, while a shard of several systems is worked on."""
    reason: str | None


def read_learned_columns(
    connection: Connection, evaluations: Sequence[int]
) -> dict[tuple[int, int], tuple[ColumnState, str | None]]:
    """State and reason of all learned columns of these evaluations, by evaluation and metric."""
    found = {}
    for begin in range(0, len(evaluations), AT_ONCE):
        rows = connection.execute(
            select(LearnedColumn.evaluation_id, LearnedColumn.metric, LearnedColumn.state, LearnedColumn.reason).where(
                LearnedColumn.evaluation_id.in_(evaluations[begin : begin + AT_ONCE])
            )
        )
        found.update({(row.evaluation_id, row.metric): (row.state, row.reason) for row in rows})
    return found


def read_unfinished_columns(
    connection: Connection, evaluations: Sequence[int]
) -> dict[tuple[int, int], ColumnProgress]:
    """The columns of these evaluations that are not done, by evaluation and metric."""
    unfinished = {
        key: each for key, each in read_learned_columns(connection, evaluations).items() if each[0] != ColumnState.DONE
    }
    if not unfinished:
        return {}
    wanted = sorted({evaluation for evaluation, _ in unfinished})
    segments = protocol_segments(connection, wanted)
    scored: defaultdict[tuple[int, int], float] = defaultdict(float)
    for begin in range(0, len(wanted), AT_ONCE):
        rows = connection.execute(
            select(
                LearnedShardEvaluation.evaluation_id,
                LearnedShard.metric,
                LearnedShard.first_block,
                LearnedShard.last_block,
                LearnedShard.state,
                LearnedShard.scored,
                LearnedShard.segments,
            )
            .join(LearnedShard, LearnedShard.id == LearnedShardEvaluation.learned_shard_id)
            .where(
                LearnedShardEvaluation.evaluation_id.in_(wanted[begin : begin + AT_ONCE]),
                LearnedShard.reduces.is_(False),
            )
        )
        for row in rows:
            last = min(row.last_block * BLOCK_SEGMENTS, segments[row.evaluation_id])
            share = 1.0 if row.state == LeaseState.DONE else row.scored / max(row.segments, 1)
            scored[row.evaluation_id, row.metric] += (last - row.first_block * BLOCK_SEGMENTS) * min(share, 1.0)
    return {
        key: ColumnProgress(state, segments[key[0]], int(scored[key]), reason)
        for key, (state, reason) in unfinished.items()
    }


def count_waiting(connection: Connection, evaluations: Sequence[int]) -> int:
    """The number of columns of these evaluations that wait for a model or a program."""
    waiting = 0
    for begin in range(0, len(evaluations), AT_ONCE):
        some = evaluations[begin : begin + AT_ONCE]
        waiting += (
            connection.scalar(
                select(func.count())
                .select_from(LearnedColumn)
                .where(LearnedColumn.evaluation_id.in_(some), LearnedColumn.state == ColumnState.WAITING)
            )
            or 0
        )
    return waiting


def read_failed_metrics(connection: Connection, evaluations: Sequence[int]) -> dict[int, list[FailedMetric]]:
    """The learned metrics that failed, by evaluation; without those that have none."""
    by_evaluation: defaultdict[int, list[Any]] = defaultdict(list)
    for begin in range(0, len(evaluations), AT_ONCE):
        failing = select(LearnedColumn.evaluation_id).where(
            LearnedColumn.evaluation_id.in_(evaluations[begin : begin + AT_ONCE]),
            LearnedColumn.state == ColumnState.FAILED,
        )
        rows = connection.execute(
            select(
                *(Score.evaluation_id, Score.title, Score.specification),
                *(LearnedColumn.state, LearnedColumn.reason, LearnedColumn.finished_at),
            )
            .outerjoin(
                LearnedColumn,
                (LearnedColumn.evaluation_id == Score.evaluation_id) & (LearnedColumn.metric == Score.metric),
            )
            .where(Score.evaluation_id.in_(failing))
            .order_by(Score.evaluation_id, Score.metric)
        )
        for row in rows:
            by_evaluation[row.evaluation_id].append(row)
    found = {}
    for evaluation, metrics in by_evaluation.items():
        titles = distinct_titles([each.title for each in metrics], [each.specification for each in metrics])
        found[evaluation] = [
            FailedMetric(title, each.reason or "", each.finished_at or 0.0)
            for title, each in zip(titles, metrics, strict=True)
            if each.state == ColumnState.FAILED
        ]
    return found


def failed_columns(connection: Connection, evaluations: Sequence[int]) -> set[int]:
    """Those of the evaluations that have failed columns."""
    found = read_learned_columns(connection, evaluations)
    return {evaluation for (evaluation, _), (state, _) in found.items() if state == ColumnState.FAILED}
