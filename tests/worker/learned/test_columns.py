"""Learned columns: fast ones are shown at once, these fill in, and what was scored once is never scored again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select, update

from analysis.leaderboard.board import read_board
from models.corpus.protocols import read_protocol
from models.database.session import reading, writing
from models.queue.kinds.learned_shards import LEARNED_SHARD
from models.queue.learned_queue import next_learned_shard, waiting_specifications
from models.queue_status.progress import read_progress
from models.results.boards import list_boards
from models.results.learned_columns import read_unfinished_columns
from models.results.segment_scores import prune_segment_scores
from models.schema.base import BLOCK_SEGMENTS
from models.schema.learned import LearnedColumn, LearnedShard, SegmentScore
from models.schema.queue import Evaluation
from models.schema.results import Score
from models.schema.states import ColumnState
from scheduler.admin import cancel, recompute, retry
from steelyard.metrics.metric import EDITION
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from tests.scheduler.jobs import queue_job, similar_text, some_text, work_off
from tests.worker.learned_metric import Vowels
from worker.computing.reducer import reduce_evaluations
from worker.context import WorkerContext
from worker.handlers import do

SEGMENTS = 2 * BLOCK_SEGMENTS + 40
METRICS = ("bleu", "vowels")


def learn(context: WorkerContext, most: int = 1000) -> int:
    """Do learned shards one after the other, as a learned worker would; how many."""
    done = 0
    while done < most:
        with reading(context.engine) as connection:
            key = next_learned_shard(connection, waiting_specifications(connection, EDITION), EDITION)
        if key is None:
            break
        do(context, LEARNED_SHARD, key, "task")
        done += 1
    return done


def scores(context: WorkerContext, evaluations: list[int]) -> dict[tuple[int, str], float | None]:
    with reading(context.engine) as connection:
        rows = connection.execute(
            select(Score.evaluation_id, Score.specification, Score.score).where(Score.evaluation_id.in_(evaluations))
        )
        return {(row.evaluation_id, row.specification.partition(":")[0]): row.score for row in rows}


def column_states(context: WorkerContext) -> list[tuple[str, str | None]]:
    with reading(context.engine) as connection:
        wanted = select(LearnedColumn.state, LearnedColumn.reason).order_by(LearnedColumn.evaluation_id)
        return [(row.state, row.reason) for row in connection.execute(wanted)]


def board_of(context: WorkerContext, metric: str = "vowels") -> Any:
    with reading(context.engine) as connection:
        return read_board(connection, list_boards(connection)[-1], 0.95, metric)


def test_fast_metrics_are_shown_at_once_and_learned_ones_fill_in(context: WorkerContext) -> None:
    job = queue_job(context.engine, context.settings, segments=SEGMENTS, systems=3, metrics=METRICS)
    work_off(context.settings)
    with reading(context.engine) as connection:
        assert set(connection.scalars(select(Evaluation.state))) == {"done"}
        assert read_progress(connection, job.all_evaluations).open == 3
    found = scores(context, job.all_evaluations)
    assert [found[each, "vowels"] for each in job.all_evaluations] == [None] * 3
    assert all(found[each, "bleu"] is not None for each in job.all_evaluations)
    board = board_of(context, "bleu")
    assert [row.scores[0].rank for row in board.rows] == [1, 2, 3]
    assert {row.scores[1].score for row in board.rows} == {None}
    assert board.notices == [
        f"vowels is still being scored: 0 of {3 * SEGMENTS:,} segments of 3 systems. Until it is done, they have no "
        "score by it."
    ]

    assert learn(context, 1) == 1
    assert board_of(context).notices[0].startswith(f"vowels is still being scored: {3 * BLOCK_SEGMENTS} of")
    learn(context)
    found = scores(context, job.all_evaluations)
    reference = some_text(SEGMENTS, 1)
    outputs = [similar_text(reference, 1000 + number) for number in range(3)]
    whole = Segments(references=[reference], hypotheses=outputs)
    (expected,) = score_systems(whole, [parse_metric("vowels")], replicates=50)
    assert [found[each, "vowels"] for each in job.all_evaluations] == expected.scores.tolist()
    board = board_of(context)
    assert board.notices == []
    by_name = {row.system: row.scores[1] for row in board.rows}
    for number, replicates in enumerate(expected.replicate_scores):
        np.testing.assert_array_equal(by_name[f"system{number}"].replicate_scores, replicates)
    with reading(context.engine) as connection:
        assert read_progress(connection, job.all_evaluations).open == 0


def test_a_protocol_may_have_learned_metrics_alone(context: WorkerContext) -> None:
    job = queue_job(context.engine, context.settings, segments=30, systems=2, metrics=["vowels"])
    learn(context)
    work_off(context.settings)
    assert None not in scores(context, job.all_evaluations).values()
    assert len(board_of(context).rows[0].scores) == 1


def test_what_was_scored_once_is_not_scored_again(context: WorkerContext) -> None:
    queue_job(context.engine, context.settings, segments=SEGMENTS, systems=2, metrics=METRICS)
    work_off(context.settings)
    learn(context)
    distinct = len(Vowels.asked)
    assert len(set(Vowels.asked)) == distinct

    # Another campaign with the same texts takes the statistics over, and needs no worker.
    same = queue_job(context.engine, context.settings, segments=SEGMENTS, systems=2, metrics=METRICS, campaign="again")
    work_off(context.settings)
    assert None not in scores(context, same.all_evaluations).values()
    assert learn(context) == 0

    # Another protocol, and an output of which one line is new.
    other = queue_job(
        *(context.engine, context.settings),
        segments=SEGMENTS,
        systems=2,
        metrics=["vowels"],
        campaign="third",
        replicates=7,
        trouble={0: b"Neu! "},
    )
    work_off(context.settings)
    learn(context)
    assert None not in scores(context, other.all_evaluations).values()
    assert [content.hypothesis[:5] for content in Vowels.asked[distinct:]] == ["Neu! "]


def test_scores_of_another_device_are_others(context: WorkerContext) -> None:
    queue_job(context.engine, context.settings, segments=30, systems=1, metrics=["vowels"])
    learn(context)
    first = len(Vowels.asked)
    queue_job(context.engine, context.settings, segments=30, systems=1, metrics=["vowels:device=tpu"])
    learn(context)
    assert len(Vowels.asked) == 2 * first
    with reading(context.engine) as connection:
        by_scorer = select(func.count()).select_from(SegmentScore).group_by(SegmentScore.scorer_id)
        assert list(connection.scalars(by_scorer)) == [first, first]


def test_a_text_that_a_program_fails_on_fails_alone_and_can_be_retried(context: WorkerContext) -> None:
    Vowels.fails.append("Poison")
    job = queue_job(
        context.engine, context.settings, segments=SEGMENTS, systems=3, metrics=METRICS, trouble={1: b"Poison "}
    )
    work_off(context.settings)
    learn(context)
    reason = "Segments 1 to 256 were not scored (tried 3 times): The model has no words for this."
    assert column_states(context) == [("done", None), ("failed", reason), ("done", None)]
    found = scores(context, job.all_evaluations)
    assert [found[each, "vowels"] is None for each in job.all_evaluations] == [False, True, False]
    assert None not in [found[each, "bleu"] for each in job.all_evaluations]
    board = board_of(context)
    assert board.notices[0].startswith("vowels could not be scored for 1 system.")
    assert [row.scores[1].rank for row in board.rows] == [1, 2, None]

    asked = len(Vowels.asked)
    Vowels.fails.clear()
    assert retry(context.engine, context.settings, job.all_evaluations) == [job.all_evaluations[1]]
    learn(context)
    assert None not in scores(context, job.all_evaluations).values()
    assert column_states(context) == [("done", None)] * 3
    # The rest of its texts were stored.
    assert 0 < len(Vowels.asked) - asked <= BLOCK_SEGMENTS


def test_cancelling_an_evaluation_ends_what_waits_for_a_model(context: WorkerContext) -> None:
    job = queue_job(context.engine, context.settings, segments=SEGMENTS, systems=1, metrics=METRICS)
    assert cancel(context.engine, job.all_evaluations) == job.all_evaluations
    with reading(context.engine) as connection:
        assert set(connection.scalars(select(LearnedShard.state))) == {"cancelled"}
    assert learn(context) == 0
    retry(context.engine, context.settings, job.all_evaluations)
    learn(context)
    work_off(context.settings)
    assert None not in scores(context, job.all_evaluations).values()


def test_recomputing_asks_for_scores_by_content_again(context: WorkerContext) -> None:
    job = queue_job(context.engine, context.settings, segments=40, systems=1, metrics=METRICS)
    work_off(context.settings)
    learn(context)
    before = scores(context, job.all_evaluations)
    recompute(context.engine, context.settings, job.all_evaluations)
    work_off(context.settings)
    learn(context)
    assert scores(context, job.all_evaluations) == before
    assert len(set(Vowels.asked)) == len(Vowels.asked)


def test_workers_without_the_model_leave_its_shards(context: WorkerContext) -> None:
    queue_job(context.engine, context.settings, segments=40, systems=1, metrics=METRICS)
    with reading(context.engine) as connection:
        assert waiting_specifications(connection, EDITION) == ["vowels"]
        assert next_learned_shard(connection, [], EDITION) is None
        assert next_learned_shard(connection, ["vowels"], EDITION + 1) is None
        assert next_learned_shard(connection, ["vowels"], EDITION) == 1


def test_teams_take_turns_and_urgent_work_goes_first(context: WorkerContext) -> None:
    for team in ("a", "b"):
        queue_job(
            context.engine, context.settings, segments=SEGMENTS, systems=1, metrics=["vowels"], campaign=team, team=team
        )
    order = []
    while (key := context.read(lambda c: next_learned_shard(c, ["vowels"], EDITION))) is not None:
        with reading(context.engine) as connection:
            row = connection.execute(select(LearnedShard).where(LearnedShard.id == key)).one()
        if not row.reduces:
            order.append(row.team)
        do(context, LEARNED_SHARD, key, "task")
    assert order == ["a", "b", "a", "b", "a", "b"]


def test_progress_counts_within_a_shard(context: WorkerContext) -> None:
    job = queue_job(context.engine, context.settings, segments=40, systems=1, metrics=["vowels"])
    with writing(context.engine) as connection:
        connection.execute(update(LearnedShard).values(segments=20, scored=5))
    with reading(context.engine) as connection:
        (progress,) = read_unfinished_columns(connection, job.all_evaluations).values()
    assert (progress.state, progress.scored, progress.segments) == (ColumnState.WAITING, 10, 40)


def test_old_scores_are_deleted_and_boards_keep_theirs(context: WorkerContext) -> None:
    job = queue_job(context.engine, context.settings, segments=40, systems=1, metrics=["vowels"])
    work_off(context.settings)
    learn(context)
    with writing(context.engine) as connection:
        assert prune_segment_scores(connection, 1000.0, 500) == 0
        connection.execute(update(SegmentScore).values(used_at=SegmentScore.used_at - 2000.0))
        assert prune_segment_scores(connection, 1000.0, 500) == len(Vowels.asked)
        assert connection.scalar(select(func.count()).select_from(SegmentScore)) == 0
    assert None not in scores(context, job.all_evaluations).values()


def test_a_retried_evaluation_keeps_the_columns_that_are_done(context: WorkerContext) -> None:
    job = queue_job(context.engine, context.settings, segments=40, systems=1, metrics=METRICS)
    learn(context)
    cancel(context.engine, job.all_evaluations)
    assert retry(context.engine, context.settings, job.all_evaluations) == job.all_evaluations
    assert column_states(context) == [("done", None)]
    work_off(context.settings)
    assert None not in scores(context, job.all_evaluations).values()
    with reading(context.engine) as connection:
        protocol = read_protocol(connection, job.protocols[0])
        rows = reduce_evaluations(connection, protocol, job.all_evaluations)
    assert [row["metric"] for row in rows] == [METRICS.index("bleu")], "a learned worker may be writing the others"


@pytest.mark.parametrize("state", [ColumnState.WAITING, ColumnState.FAILED])
def test_nothing_is_reused_of_a_column_that_is_not_done(context: WorkerContext, state: ColumnState) -> None:
    queue_job(context.engine, context.settings, segments=40, systems=1, metrics=METRICS)
    work_off(context.settings)
    with writing(context.engine) as connection:
        connection.execute(update(LearnedColumn).values(state=state))
    other = queue_job(context.engine, context.settings, segments=40, systems=1, metrics=METRICS, campaign="other")
    assert other.measured_before == ((1,),)
    work_off(context.settings)
    learn(context)
    assert None not in scores(context, other.all_evaluations).values()
