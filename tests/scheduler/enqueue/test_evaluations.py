"""What is enqueued: as urgent as it was asked for last, and with replicates of what the protocol draws."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from sqlalchemy import Engine, func, insert, select

import worker.computing.reducer
import worker.computing.scoring
from models.database.session import make_engine, reading, writing
from models.queue.evaluation_end import cancel_evaluations
from models.schema.learned import LearnedColumn
from models.schema.queue import Evaluation, Shard
from models.schema.results import ReplicatePart, Score, Statistics
from models.schema.states import ColumnState, EvaluationState, LeaseState, QueueClass, ResamplingUnit
from runtime.settings import Settings
from scheduler.enqueue.evaluations import enqueue_evaluations
from steelyard.metrics.metric import EDITION
from tests.scheduler.jobs import one_block_shards, queue_job, work_off

SEGMENTS = 300


@pytest.fixture
def settings(sqlite_url: str) -> Settings:
    return one_block_shards(sqlite_url)


@pytest.fixture
def engine(settings: Settings) -> Iterator[Engine]:
    engine = make_engine(settings.database_url)
    yield engine
    engine.dispose()


def test_taken_up_again_it_is_as_urgent_as_it_is_asked_for_now(engine: Engine, settings: Settings) -> None:
    """By whom, in which class and until when: for the evaluation and for each of its shards."""
    job = queue_job(engine, settings, segments=SEGMENTS, queue_class=QueueClass.CAMPAIGN, team="", due_at=1e9)
    first, *rest = job.all_evaluations
    urgency = {"queue_class": QueueClass.INTERACTIVE, "team": "harbour", "due_at": 2e9}
    with writing(engine) as connection:
        cancel_evaluations(connection, [first])
        submission = select(Evaluation.submission_id).where(Evaluation.id == first)
        asked = [connection.scalars(submission).one()]
        assert enqueue_evaluations(connection, settings, job.protocols[0], asked, **urgency) == [first]
        columns = Evaluation.id, Evaluation.queue_class, Evaluation.team, Evaluation.due_at, Evaluation.state
        found = {row[0]: tuple(row[1:]) for row in connection.execute(select(*columns))}
        new = (QueueClass.INTERACTIVE, "harbour", 2e9, EvaluationState.QUEUED)
        assert found == {
            first: new,
            **dict.fromkeys(rest, (QueueClass.CAMPAIGN, "", 1e9, EvaluationState.QUEUED)),
        }
        pending = select(Shard.team, Shard.queue_class, Shard.due_at, Shard.edition)
        shards = connection.execute(pending.where(Shard.state == LeaseState.PENDING)).all()
    old = [("", QueueClass.CAMPAIGN, 1e9, EDITION)] * 2
    assert sorted(map(tuple, shards)) == old + [("harbour", QueueClass.INTERACTIVE, 2e9, EDITION)] * 2


DRAWS = list(product(ResamplingUnit, ("ab", "abc")))
"""What is drawn: segments, or documents of every second or every third segment."""


@pytest.mark.parametrize("before", DRAWS)
@pytest.mark.parametrize("after", DRAWS)
def test_replicates_of_other_documents_are_not_taken_over(
    engine: Engine,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    before: tuple[ResamplingUnit, str],
    after: tuple[ResamplingUnit, str],
) -> None:
    """Of the same texts in two test sets that differ in their documents; their statistics are the same."""
    # Every shard is large; imported before, the reducer goes on by its own measure.
    monkeypatch.setattr(worker.computing.scoring, "LARGEST_TRAVELLING", 0)
    evaluations = []
    for campaign, (unit, names) in (("first", before), ("second", after)):
        documents = [names[number % len(names)] for number in range(SEGMENTS)]
        job = queue_job(
            *(engine, settings), segments=SEGMENTS, systems=1, campaign=campaign, documents=documents, resample=unit
        )
        evaluations += job.all_evaluations
        with reading(engine) as connection:
            there = [
                connection.scalar(select(func.count()).select_from(table).where(table.evaluation_id == evaluations[-1]))
                for table in (Statistics, ReplicatePart)
            ]
        work_off(settings)
    is_same = before == after or before[0] == after[0] == ResamplingUnit.SEGMENT
    assert there == [2, 2 if is_same else 0]
    if not is_same:
        with reading(engine) as connection:
            scores = connection.execute(select(Score.score, Score.replicate_scores).order_by(Score.evaluation_id)).all()
        assert scores[0].score == scores[1].score
        assert scores[0].replicate_scores != scores[1].replicate_scores


@pytest.mark.parametrize("state", ColumnState)
@pytest.mark.parametrize("metric", [0, 1])
def test_only_what_is_finished_is_taken_over(
    engine: Engine, settings: Settings, state: ColumnState, metric: int
) -> None:
    """A metric that a model has not scored yet is undefined for now; the other metrics of its evaluation are there."""
    first = queue_job(engine, settings, segments=SEGMENTS, systems=2, metrics=["bleu", "wer"])
    work_off(settings)
    with writing(engine) as connection:
        column = {"evaluation_id": first.all_evaluations[0], "metric": metric, "state": state, "remaining": 0}
        connection.execute(insert(LearnedColumn).values(**column))
    second = queue_job(engine, settings, segments=SEGMENTS, systems=2, metrics=["bleu", "wer"], campaign="second")
    copied = select(Statistics.evaluation_id, Statistics.metric).where(
        Statistics.evaluation_id.in_(second.all_evaluations)
    )
    with reading(engine) as connection:
        found = {tuple(row) for row in connection.execute(copied)}
    expected = {(evaluation, each) for evaluation in second.all_evaluations for each in (0, 1)}
    unfinished = set() if state == ColumnState.DONE else {(second.all_evaluations[0], metric)}
    assert found == expected - unfinished
    taken = [2 - sum(each[0] == evaluation for each in unfinished) for evaluation in second.all_evaluations]
    assert second.measured_before == (tuple(taken),)
