"""Two learned metrics of the same evaluations: what happens to a column, and never to another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection, delete, func, select, update

from models.database.session import reading, writing
from models.queue.consistency import LOST_SHARDS, mend_columns
from models.queue.evaluation_end import cancel_evaluations
from models.queue.kinds.learned_shards import LEARNED_SHARD, ClaimedLearnedShard, ScoredColumns
from models.queue.kinds.shards import ShardRow
from models.results.learned_columns import count_waiting, failed_columns, read_unfinished_columns
from models.schema.base import BLOCK_SEGMENTS, now
from models.schema.learned import LearnedColumn, LearnedShard, LearnedShardEvaluation
from models.schema.queue import Evaluation
from models.schema.results import Score, Statistics
from models.schema.states import ColumnState, LeaseState, QueueClass
from models.storage.arrays import pack
from scheduler.admin import retry
from scheduler.enqueue import learned as enqueueing
from scheduler.enqueue.learned import retry_columns
from scheduler.ingest.campaigns import IngestResult
from tests.scheduler.jobs import one_block_shards, queue_job, work_off
from tests.tasks import claim_task, complete_task, release_task
from worker.context import WorkerContext

METRICS = ("bleu", "vowels", "vowels:device=tpu")
SEGMENTS = BLOCK_SEGMENTS + 44
DUE = 4e9
URGENCY = {"team": "ants", "queue_class": QueueClass.INTERACTIVE, "due_at": DUE}


@pytest.fixture
def context(sqlite_url: str, rows_backwards: None) -> Iterator[WorkerContext]:
    context = WorkerContext(one_block_shards(sqlite_url, learned_shard_tokens=1))
    yield context
    context.close()


@pytest.fixture
def job(context: WorkerContext) -> IngestResult:
    """Three systems with two blocks, so that each learned metric has two shards; BLEU is done."""
    job = queue_job(context.engine, context.settings, segments=SEGMENTS, metrics=METRICS, **URGENCY)
    work_off(context.settings)
    return job


def shards(connection: Connection, metric: int, *, reduces: bool = False) -> list[int]:
    wanted = select(LearnedShard.id).where(
        LearnedShard.metric == metric,
        LearnedShard.reduces.is_(reduces),
        LearnedShard.state == LeaseState.PENDING,
    )
    return list(connection.scalars(wanted.order_by(LearnedShard.id)))


def claim(connection: Connection, key: int, owner: str = "o") -> ClaimedLearnedShard | None:
    return claim_task(connection, LEARNED_SHARD, key, owner=owner, worker="w", lease_seconds=60, max_attempts=3)


def finish(connection: Connection, claimed: ClaimedLearnedShard, value: float = 1.0) -> Any:
    """Complete a shard as a worker would, with one number in all statistics."""
    last = min(claimed.last_block * BLOCK_SEGMENTS, SEGMENTS)
    blob = pack(np.full((last - claimed.first_block * BLOCK_SEGMENTS, 2), value))
    rows = [ShardRow(evaluation, claimed.metric, blob, None) for evaluation in claimed.evaluations]
    return complete_task(connection, LEARNED_SHARD, claimed, ScoredColumns(rows=rows, contents=5, computed=3))


def fail(connection: Connection, key: int, owner: str = "o") -> None:
    released = {"max_attempts": 3, "delay_seconds": 0.0, "permanent": True}
    assert release_task(connection, LEARNED_SHARD, key, owner, "no.", **released)


def columns(connection: Connection, metric: int) -> list[tuple[str, int]]:
    rows = select(LearnedColumn).where(LearnedColumn.metric == metric).order_by(LearnedColumn.evaluation_id)
    return [(row.state, row.remaining) for row in connection.execute(rows)]


def members(connection: Connection, key: int) -> list[int]:
    of_shard = select(LearnedShardEvaluation.evaluation_id).where(LearnedShardEvaluation.learned_shard_id == key)
    return sorted(connection.scalars(of_shard))


def urgency(connection: Connection, key: int) -> dict[str, Any]:
    row = connection.execute(select(LearnedShard).where(LearnedShard.id == key)).one()
    return {name: getattr(row, name) for name in URGENCY}


def statistics(connection: Connection, evaluation: int, metric: int) -> list[bytes]:
    rows = select(Statistics.blob).where(Statistics.evaluation_id == evaluation, Statistics.metric == metric)
    return list(connection.scalars(rows.order_by(Statistics.first_block)))


def score_rows(claimed: ClaimedLearnedShard, score: float = 7.0) -> list[dict[str, Any]]:
    row = {"specification": "vowels", "title": "v", "signature": "s", "higher_is_better": True, "scale": 1.0}
    row |= {"columns": ["a", "b"], "sums": b"", "score": score, "replicate_scores": b"", "details": {}}
    return [{"evaluation_id": each, "metric": claimed.metric, **row} for each in claimed.evaluations]


def test_shards_are_as_urgent_as_their_evaluations(context: WorkerContext, job: IngestResult) -> None:
    with reading(context.engine) as connection:
        rows = connection.execute(select(LearnedShard).order_by(LearnedShard.metric, LearnedShard.first_block)).all()
    blocks = [(1, 0, 1), (1, 1, 2), (2, 0, 1), (2, 1, 2)]
    assert [(row.metric, row.first_block, row.last_block) for row in rows] == blocks
    assert [row.segments for row in rows] == [3 * BLOCK_SEGMENTS, 3 * 44] * 2
    assert {row.specification for row in rows} == set(METRICS[1:])
    with reading(context.engine) as connection:
        assert all(urgency(connection, row.id) == URGENCY for row in rows)
        assert all(members(connection, row.id) == job.all_evaluations for row in rows)


def test_equal_outputs_count_once_and_one_shard_has_so_many_systems(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enqueueing, "MOST_EVALUATIONS", 2)
    queue_job(context.engine, context.settings, segments=40, systems=3, metrics=["vowels"])
    with writing(context.engine) as connection:
        assert [members(connection, key) for key in shards(connection, 0)] == [[1, 2], [3]]
        # Started again with one text for the first two.
        connection.execute(update(LearnedColumn).values(state=ColumnState.FAILED))
        protocol = enqueueing.read_protocol(connection, 1)
        urgent = enqueueing.Urgency(0, "", None)
        enqueueing.start_columns(connection, context.settings, protocol, 0, [1, 2, 3], {1: 1, 2: 1, 3: 2}, urgent)
        rows = connection.execute(select(LearnedShard).order_by(LearnedShard.id)).all()[2:]
    assert [row.segments for row in rows] == [40, 40]


def test_a_shard_counts_for_its_metric_alone_and_the_last_one_is_added_up(
    context: WorkerContext, job: IngestResult
) -> None:
    with writing(context.engine) as connection:
        first, second = shards(connection, 1)
        claimed = claim(connection, first)
        assert claimed is not None
        assert (claimed.evaluations, claimed.metric) == (tuple(job.all_evaluations), 1)
        done = finish(connection, claimed)
        assert (done.accepted, done.ready) == (True, None)
        assert (columns(connection, 1), columns(connection, 2)) == ([("waiting", 1)] * 3, [("waiting", 2)] * 3)
        row = connection.execute(select(LearnedShard).where(LearnedShard.id == first)).one()
        assert (row.state, row.segments, row.scored) == ("done", 5, 5)
        claimed = claim(connection, second)
        assert claimed is not None
        done = finish(connection, claimed)
        [adding] = shards(connection, 1, reduces=True)
        assert done.ready == (LEARNED_SHARD, adding)
        assert urgency(connection, adding) == URGENCY
        assert members(connection, adding) == job.all_evaluations
        assert (columns(connection, 1), columns(connection, 2)) == ([("waiting", 0)] * 3, [("waiting", 2)] * 3)
        # A column that waits to be added up is no waste of what was counted.
        assert mend_columns(connection) == 0
        before = connection.execute(select(Evaluation.finished_at).order_by(Evaluation.id)).all()
        connection.execute(update(Evaluation).values(finished_at=5.0))
        claimed = claim(connection, adding)
        assert claimed is not None
        assert claimed.reduces
        assert complete_task(connection, LEARNED_SHARD, claimed, ScoredColumns(scores=score_rows(claimed))).accepted
        assert (columns(connection, 1), columns(connection, 2)) == ([("done", 0)] * 3, [("waiting", 2)] * 3)
        scores = select(Score.score).where(Score.metric == 1)
        assert list(connection.scalars(scores)) == [7.0] * 3
        # Whoever keeps a leaderboard learns from it that there is more to show.
        after = connection.execute(select(Evaluation.finished_at).order_by(Evaluation.id)).all()
        assert all(row.finished_at >= old.finished_at for row, old in zip(after, before, strict=True))


def test_one_that_fails_is_split_and_then_fails_in_its_metric_alone(context: WorkerContext, job: IngestResult) -> None:
    with writing(context.engine) as connection:
        _, second = shards(connection, 1)
        assert claim(connection, second) is not None
        fail(connection, second)
        assert columns(connection, 1) == [("waiting", 2)] * 3
        own = shards(connection, 1)[1:]
        assert [members(connection, key) for key in own] == [[each] for each in job.all_evaluations]
        rows = connection.execute(select(LearnedShard).where(LearnedShard.id.in_(own))).all()
        assert {(row.first_block, row.last_block, row.attempts) for row in rows} == {(1, 2, 0)}
        assert all(urgency(connection, key) == URGENCY for key in own)
        assert claim(connection, own[1]) is not None
        fail(connection, own[1])
        states = [("waiting", 2), ("failed", 2), ("waiting", 2)]
        assert (columns(connection, 1), columns(connection, 2)) == (states, [("waiting", 2)] * 3)
        reasons = connection.scalars(select(LearnedColumn.reason).where(LearnedColumn.state == ColumnState.FAILED))
        assert list(reasons) == ["Segments 257 to 512 were not scored (tried once): no."]
        # What is left for the others is not done for the one that failed.
        claimed = claim(connection, shards(connection, 1)[0])
        assert claimed is not None
        assert claimed.evaluations == (job.all_evaluations[0], job.all_evaluations[2])
        assert failed_columns(connection, job.all_evaluations) == {job.all_evaluations[1]}
        assert count_waiting(connection, job.all_evaluations) == 5


def test_what_cannot_be_added_up_fails_for_all(context: WorkerContext, job: IngestResult) -> None:
    with writing(context.engine) as connection:
        for key in shards(connection, 2):
            claimed = claim(connection, key)
            assert claimed is not None
            finish(connection, claimed)
        [adding] = shards(connection, 2, reduces=True)
        assert claim(connection, adding) is not None
        fail(connection, adding)
        assert (columns(connection, 1), columns(connection, 2)) == ([("waiting", 2)] * 3, [("failed", 0)] * 3)
        reasons = connection.scalars(select(LearnedColumn.reason).where(LearnedColumn.metric == 2).distinct())
        assert list(reasons) == ["The scores could not be added up (tried once): no."]
        assert len(job.all_evaluations) == 3


def test_a_late_result_is_nothing_to_a_column_that_began_again(context: WorkerContext, job: IngestResult) -> None:
    first, *others = job.all_evaluations
    with writing(context.engine) as connection:
        old, _ = shards(connection, 1)
        claimed = claim(connection, old)
        assert claimed is not None
        column = (LearnedColumn.evaluation_id == first) & (LearnedColumn.metric == 1)
        connection.execute(update(LearnedColumn).where(column).values(state=ColumnState.FAILED))
        assert retry_columns(connection, context.settings, job.all_evaluations) == [first]
        assert columns(connection, 1) == [("waiting", 2)] * 3
        empty = statistics(connection, first, 1)
        assert len(empty) == 2
        assert finish(connection, claimed).accepted
        assert columns(connection, 1) == [("waiting", 2), ("waiting", 1), ("waiting", 1)]
        assert statistics(connection, first, 1) == empty
        assert all(statistics(connection, each, 1)[0] != empty[0] for each in others)


def test_a_retry_is_of_what_failed_and_as_urgent_as_before(context: WorkerContext, job: IngestResult) -> None:
    first, second, third = job.all_evaluations
    with writing(context.engine) as connection:
        for key in (*shards(connection, 1), *shards(connection, 2)):
            claimed = claim(connection, key)
            assert claimed is not None
            finish(connection, claimed)
        column = (LearnedColumn.evaluation_id == second) & (LearnedColumn.metric == 1)
        connection.execute(update(LearnedColumn).where(column).values(state=ColumnState.FAILED, reason="no."))
        kept = {
            (each, metric): statistics(connection, each, metric) for each in job.all_evaluations for metric in (0, 2)
        }
        kept |= {(each, 1): statistics(connection, each, 1) for each in (first, third)}
        bleu = connection.scalars(select(Score.score).where(Score.metric == 0)).all()
    assert retry(context.engine, context.settings, job.all_evaluations) == [second]
    with reading(context.engine) as connection:
        again = shards(connection, 1)
        assert len(again) == 2
        assert [members(connection, key) for key in again] == [[second]] * 2
        assert all(urgency(connection, key) == URGENCY for key in again)
        assert shards(connection, 2) == []
        assert {key: statistics(connection, *key) for key in kept} == kept
        assert connection.scalars(select(Score.score).where(Score.metric == 0)).all() == bleu
        undefined = connection.scalars(select(Score.score).where(Score.metric == 1, Score.evaluation_id == second))
        assert list(undefined) == [None]
        assert connection.scalars(select(Evaluation.state).distinct()).all() == ["done"]


def test_cancelling_one_leaves_the_others_their_shards(context: WorkerContext) -> None:
    job = queue_job(context.engine, context.settings, segments=SEGMENTS, metrics=METRICS)
    other = queue_job(context.engine, context.settings, segments=30, metrics=["vowels"], campaign="other", seed=5)
    first, *_ = job.all_evaluations
    with writing(context.engine) as connection:
        theirs, *_ = shards(connection, 0)
        mine = shards(connection, 1) + shards(connection, 2)
        done = (LearnedColumn.evaluation_id == first) & (LearnedColumn.metric == 1)
        connection.execute(update(LearnedColumn).where(done).values(state=ColumnState.DONE))
        assert cancel_evaluations(connection, [first], "not wanted") == [first]
        assert columns(connection, 1)[0] == ("done", 2)
        assert [state for state, _ in columns(connection, 2)] == ["failed", "waiting", "waiting"]
        assert shards(connection, 1) + shards(connection, 2) == mine
        # The rest of metric 1 ends: its shards alone go.
        rest = LearnedColumn.metric == 1
        connection.execute(update(LearnedColumn).where(rest).values(state=ColumnState.DONE))
        assert cancel_evaluations(connection, job.all_evaluations[1:2]) == job.all_evaluations[1:2]
        assert (shards(connection, 1), shards(connection, 2)) == ([], mine[2:])
        assert cancel_evaluations(connection, job.all_evaluations[2:]) == job.all_evaluations[2:]
        assert shards(connection, 2) == []
        assert shards(connection, 0) == [theirs]
        assert columns(connection, 0) == [("waiting", 1)] * len(other.all_evaluations)
        reasons = connection.scalars(select(LearnedColumn.reason).where(LearnedColumn.metric == 2))
        assert sorted(set(reasons)) == ["The evaluation was cancelled.", "not wanted"]


def test_what_waits_for_ended_evaluations_is_claimed_by_nobody(context: WorkerContext, job: IngestResult) -> None:
    with writing(context.engine) as connection:
        [key, *_] = shards(connection, 1)
        states = dict(zip(job.all_evaluations, ("failed", "cancelled", "done"), strict=True))
        for evaluation, state in states.items():
            connection.execute(update(Evaluation).where(Evaluation.id == evaluation).values(state=state))
        claimed = claim(connection, key)
        assert claimed is not None
        assert claimed.evaluations == (job.all_evaluations[2],)


@pytest.mark.parametrize("metric", [1, 2])
def test_counts_are_mended_by_the_shards_of_each_metric(context: WorkerContext, job: IngestResult, metric: int) -> None:
    other = 3 - metric
    with writing(context.engine) as connection:
        assert mend_columns(connection) == 0
        [key, *_] = shards(connection, metric)
        claimed = claim(connection, key)
        assert claimed is not None
        assert mend_columns(connection) == 0
        finish(connection, claimed)
        assert mend_columns(connection) == 0
        connection.execute(update(LearnedColumn).where(LearnedColumn.metric == metric).values(remaining=9))
        assert mend_columns(connection) == 3
        assert (columns(connection, metric), columns(connection, other)) == ([("waiting", 1)] * 3, [("waiting", 2)] * 3)
        # Where all shards are gone, what waits for them fails; what is done stays.
        done = (LearnedColumn.evaluation_id == job.all_evaluations[0]) & (LearnedColumn.metric == metric)
        connection.execute(update(LearnedColumn).where(done).values(state=ColumnState.DONE))
        connection.execute(delete(LearnedShard).where(LearnedShard.metric == metric))
        assert mend_columns(connection) == 2
        assert [state for state, _ in columns(connection, metric)] == ["done", "failed", "failed"]
        assert columns(connection, other) == [("waiting", 2)] * 3
        reasons = select(LearnedColumn.reason).where(LearnedColumn.state == ColumnState.FAILED).distinct()
        assert list(connection.scalars(reasons)) == [LOST_SHARDS]
        assert mend_columns(connection) == 0


def test_progress_is_that_of_each_column(context: WorkerContext, job: IngestResult) -> None:
    def scored(evaluations: Sequence[int]) -> dict[tuple[int, int], int]:
        with reading(context.engine) as connection:
            return {key: each.scored for key, each in read_unfinished_columns(connection, evaluations).items()}

    first, second, third = job.all_evaluations
    with writing(context.engine) as connection:
        _, last = shards(connection, 1)
        claimed = claim(connection, last)
        assert claimed is not None
        finish(connection, claimed)
        # More contents than were expected are scored: a share is never more than all.
        [half, _] = shards(connection, 2)
        connection.execute(update(LearnedShard).where(LearnedShard.id == half).values(segments=10, scored=20))
    expected = {(each, 1): 44 for each in job.all_evaluations} | {(each, 2): 256 for each in job.all_evaluations}
    assert scored(job.all_evaluations) == expected
    assert scored([second]) == {(second, 1): 44, (second, 2): 256}
    with writing(context.engine) as connection:
        [rest] = shards(connection, 1)
        claimed = claim(connection, rest)
        assert claimed is not None
        finish(connection, claimed)
        done = (LearnedColumn.evaluation_id == third) & (LearnedColumn.metric == 2)
        connection.execute(update(LearnedColumn).where(done).values(state=ColumnState.DONE))
        assert len(shards(connection, 1, reduces=True)) == 1
    expected = {(each, 1): SEGMENTS for each in job.all_evaluations} | {(first, 2): 256, (second, 2): 256}
    assert scored(job.all_evaluations) == expected


def test_ended_shards_stay_as_long_as_progress_is_counted_from_them(context: WorkerContext, job: IngestResult) -> None:
    def removable() -> int:
        with reading(context.engine) as connection:
            which = (LearnedShard.metric == 1, LearnedShard.state == LeaseState.DONE, LEARNED_SHARD.removable())
            return connection.scalar(select(func.count()).select_from(LearnedShard).where(*which)) or 0

    with writing(context.engine) as connection:
        for key in shards(connection, 1):
            claimed = claim(connection, key)
            assert claimed is not None
            finish(connection, claimed)
    assert removable() == 0
    with writing(context.engine) as connection:
        theirs = (LearnedColumn.metric == 1) & (LearnedColumn.evaluation_id != job.all_evaluations[0])
        connection.execute(update(LearnedColumn).where(theirs).values(state=ColumnState.DONE, finished_at=now()))
    assert removable() == 0
    with writing(context.engine) as connection:
        connection.execute(update(LearnedColumn).where(LearnedColumn.metric == 1).values(state=ColumnState.FAILED))
    assert removable() == 2


def test_of_two_learned_metrics_what_is_done_is_reused(context: WorkerContext, job: IngestResult) -> None:
    with writing(context.engine) as connection:
        for _ in range(2):
            for key in (*shards(connection, 2), *shards(connection, 2, reduces=True)):
                claimed = claim(connection, key)
                assert claimed is not None
                if claimed.reduces:
                    again = select(Score).where(Score.metric == 2, Score.evaluation_id.in_(claimed.evaluations))
                    rows = [{**row._mapping, "score": 7.0} for row in connection.execute(again)]
                    assert complete_task(connection, LEARNED_SHARD, claimed, ScoredColumns(scores=rows)).accepted
                else:
                    finish(connection, claimed)
        assert columns(connection, 2) == [("done", 0)] * 3
    copy = queue_job(context.engine, context.settings, segments=SEGMENTS, metrics=METRICS, campaign="copy")
    assert copy.measured_before == ((2, 2, 2),)
    with reading(context.engine) as connection:
        waiting = select(LearnedColumn.metric).where(LearnedColumn.evaluation_id.in_(copy.all_evaluations))
        assert set(connection.scalars(waiting)) == {1}
        for old, new in zip(job.all_evaluations, copy.all_evaluations, strict=True):
            assert statistics(connection, new, 2) == statistics(connection, old, 2)
            assert statistics(connection, new, 1) != statistics(connection, old, 2)
