"""Progress and queue position of watched submissions, in a few statements for all of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from sqlalchemy import Connection, bindparam, func, select

from models.queue.lease import is_open
from models.queue.workers import count_processes
from models.queue_status.throughput import measured_ratio
from models.schema.base import BLOCK_SEGMENTS
from models.schema.column_types import is_known
from models.schema.corpus import Protocol, TestSet
from models.schema.queue import Evaluation, Shard, ShardEvaluation
from models.schema.states import ENDED, OPEN, UNSCORED, EvaluationState, LeaseState

# Built once: building them takes as long as executing them.
_EVALUATIONS = (
    select(Evaluation.id, Evaluation.submission_id, Evaluation.state, Evaluation.started_at, Evaluation.queue_class)
    .add_columns(TestSet.segments)
    .join(Protocol, Protocol.id == Evaluation.protocol_id)
    .join(TestSet, TestSet.id == Protocol.test_set_id)
)
_OF_SUBMISSIONS = _EVALUATIONS.where(
    Evaluation.submission_id.in_(bindparam("submissions", expanding=True)), Protocol.sweep.is_(False)
)
_OPEN_SHARDS = (
    select(ShardEvaluation.evaluation_id, Shard.first_block, Shard.last_block)
    .join(Shard, Shard.id == ShardEvaluation.shard_id)
    .where(ShardEvaluation.evaluation_id.in_(bindparam("evaluations", expanding=True)), is_open(Shard))
)

MAX_SHARDS = 20_000
"""Limit on the open shards used by an estimate."""


@dataclass(frozen=True, slots=True)
class SubmissionProgress:
    """The progress of a submission."""

    state: EvaluationState
    """The combined state of its evaluations (`public_state`): if some are open, that of the furthest; otherwise the
    worst."""
    segments: int
    """Of the test set, counted once per evaluation."""
    segments_done: int
    """Segments that no open shard has to measure; 0 until work has begun."""
    ahead: int | None
    """Other open submissions of its class or a more urgent one that were queued earlier; None once ended."""
    seconds_left: float | None
    """The rough time until it is done; None without workers or once ended."""

    @property
    def ended(self) -> bool:
        """Whether it can no longer change."""
        return self.state in ENDED


def submission_state(states: Collection[EvaluationState]) -> EvaluationState:
    """The state of a submission from those of its evaluations; unknown states are passed through."""
    for state in states:
        if not is_known(state):
            return state
    unscored = [state for state in states if state in UNSCORED]
    if unscored:
        begun = len(unscored) < len(states) or EvaluationState.RUNNING in unscored
        return EvaluationState.RUNNING if begun else EvaluationState.QUEUED
    worst = (state for state in (EvaluationState.REDUCING, *ENDED) if state in states)
    return next(worst, EvaluationState.DONE)


def public_state(state: EvaluationState, started_at: float | None) -> EvaluationState:
    """The state of an evaluation as shown to its team.

    An evaluation whose statistics all existed is only waiting for its reduction. Until that begins it is shown as
    queued like any other, so that it does not reveal what another campaign has stored.
    """
    return EvaluationState.QUEUED if state == EvaluationState.REDUCING and started_at is None else state


@dataclass(frozen=True, slots=True)
class MeasuredSegments:
    """Measured segments of one evaluation, or of several."""

    every: int
    done: int


def read_measured_segments(connection: Connection, evaluation: int) -> MeasuredSegments:
    """The number of segments of an evaluation that no open shard has to measure."""
    row = connection.execute(_EVALUATIONS.where(Evaluation.id == evaluation)).one()
    return _measured_segments(connection, [row])[evaluation]


def _measured_segments(connection: Connection, evaluations: Sequence[Any]) -> dict[int, MeasuredSegments]:
    """Measured segments by evaluation. Before work begins, none count as measured, whatever is stored.

    The partition into shards, which depends on that as well, does not show.
    """
    left: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for row in connection.execute(_OPEN_SHARDS, {"evaluations": [row.id for row in evaluations]}):
        left[row.evaluation_id].append((row.first_block * BLOCK_SEGMENTS, row.last_block * BLOCK_SEGMENTS))
    return {
        row.id: MeasuredSegments(
            row.segments, 0 if row.started_at is None else row.segments - _covered(left[row.id], row.segments)
        )
        for row in evaluations
    }


def _covered(ranges: list[tuple[int, int]], end: int) -> int:
    """The number of blocks from 0 to `end` that lie in any of these ranges."""
    covered = reached = 0
    for first, last in sorted(ranges):
        covered += max(min(last, end) - max(first, reached), 0)
        reached = max(reached, last)
    return covered


def read_submission_progress(
    connection: Connection, submissions: Sequence[int], silent_seconds: float
) -> dict[int, SubmissionProgress]:
    """The progress of these submissions. One with nothing left to measure is done."""
    rows = connection.execute(_OF_SUBMISSIONS, {"submissions": list(submissions)}).all()
    states: dict[int, list[EvaluationState]] = defaultdict(list)
    waiting: dict[int, tuple[int, int]] = {}
    """Submission -> its class and its first open evaluation."""
    for row in rows:
        state = public_state(row.state, row.started_at)
        states[row.submission_id].append(state)
        if state in OPEN:
            known = waiting.get(row.submission_id, (row.queue_class, row.id))
            waiting[row.submission_id] = (min(known[0], row.queue_class), min(known[1], row.id))
    measured = _measured_segments(connection, rows)
    segments, done = Counter[int](), Counter[int]()
    for row in rows:
        segments[row.submission_id] += measured[row.id].every
        done[row.submission_id] += measured[row.id].done
    last = _last_shards(connection, list(waiting)) if waiting else {}
    ahead = _queue_positions(connection, waiting)
    seconds = _seconds(connection, waiting, last, silent_seconds)
    return {
        submission: SubmissionProgress(
            submission_state(states[submission]),
            segments[submission],
            done[submission],
            ahead.get(submission),
            seconds.get(submission),
        )
        for submission in submissions
    }


def _last_shards(connection: Connection, submissions: Sequence[int]) -> dict[int, int]:
    """The last open shard by submission."""
    rows = connection.execute(
        select(Evaluation.submission_id, func.max(Shard.id).label("last"))
        .join(ShardEvaluation, ShardEvaluation.evaluation_id == Evaluation.id)
        .join(Shard, Shard.id == ShardEvaluation.shard_id)
        .where(Evaluation.submission_id.in_(submissions), Shard.state.not_in((LeaseState.FAILED, LeaseState.CANCELLED)))
        .group_by(Evaluation.submission_id)
    )
    return {row.submission_id: row.last for row in rows}


def _queue_positions(connection: Connection, waiting: dict[int, tuple[int, int]]) -> dict[int, int]:
    if not waiting:
        return {}
    rows = connection.execute(
        select(Evaluation.submission_id, Evaluation.queue_class, func.min(Evaluation.id).label("first"))
        .where(Evaluation.state.in_(OPEN))
        .group_by(Evaluation.submission_id, Evaluation.queue_class)
    ).all()
    firsts = {
        queue_class: _first_evaluations(
            (row.submission_id, row.first) for row in rows if row.queue_class <= queue_class
        )
        for queue_class in {queue_class for queue_class, _ in waiting.values()}
    }
    in_order = {queue_class: sorted(first.values()) for queue_class, first in firsts.items()}
    return {
        # All before it, excluding itself.
        submission: bisect_left(in_order[queue_class], first) - (firsts[queue_class][submission] < first)
        for submission, (queue_class, first) in waiting.items()
    }


def _first_evaluations(rows: Iterable[tuple[int, int]]) -> dict[int, int]:
    """The first evaluation of each submission."""
    firsts: dict[int, int] = {}
    for submission, first in rows:
        firsts[submission] = min(first, firsts.get(submission, first))
    return firsts


def _seconds(
    connection: Connection, waiting: dict[int, tuple[int, int]], last: dict[int, int], silent_seconds: float
) -> dict[int, float]:
    """Estimated seconds for their own shards and those ahead, over all processes; fair share may make it sooner."""
    workers = count_processes(connection, silent_seconds) if waiting else 0
    if not workers:
        return {}
    open_shards = connection.execute(
        select(Shard.id, Shard.queue_class, Shard.cost).where(is_open(Shard)).order_by(Shard.id).limit(MAX_SHARDS)
    ).all()
    ratio = measured_ratio(connection)
    before = {
        queue_class: _costs_up_to((row.id, row.cost) for row in open_shards if row.queue_class <= queue_class)
        for queue_class in {queue_class for queue_class, _ in waiting.values()}
    }
    seconds = {}
    for submission, (queue_class, _) in waiting.items():
        ids, costs = before[queue_class]
        # A submission without shards gets the same estimate as a new one.
        place = bisect_right(ids, last[submission]) if submission in last else len(ids)
        seconds[submission] = ratio * costs[place] / workers
    return seconds


def _costs_up_to(shards: Iterable[tuple[int, float]]) -> tuple[list[int], list[float]]:
    """The ids of shards in order, with their cumulative costs."""
    rows = list(shards)
    return [shard for shard, _ in rows], list(accumulate((cost for _, cost in rows), initial=0.0))
