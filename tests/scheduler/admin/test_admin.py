"""Evaluations cancelled, tried again and measured anew by hand, whatever else happens at that moment."""

import numpy as np
import pytest
from sqlalchemy import Engine, func, select, update

from models.database.session import reading, writing
from models.errors import NotFound
from models.queue.evaluation_end import cancel_evaluations
from models.queue.kinds.comparisons import TRIALS, end_comparisons, start_comparison
from models.queue.kinds.reductions import REDUCTION
from models.queue.kinds.shards import SHARD, ClaimedShard, ScoredShard, ShardRow
from models.queue.task_kind import complete_several
from models.queue_status.evaluation_filters import EvaluationFilter
from models.queue_status.overview import read_overview
from models.results.randomizations import Pair, RandomizationPlan
from models.schema.queue import Comparison, Evaluation, Shard, Trials
from models.schema.results import Randomization, Score, Statistics
from models.schema.states import ComparisonState, EvaluationState, LeaseState, QueueClass
from runtime.settings import Settings
from scheduler.admin import CANCELLED, Action, cancel, plan, retry
from scheduler.errors import NothingToDo, TooMany
from scheduler.ingest.campaigns import IngestResult
from steelyard.metrics.metric import EDITION
from tests.faults.cluster import Scores, stored_scores
from tests.scheduler.admin.evaluations import anything, behind, claimed, count, evaluations, one_kind, queue, shards
from tests.scheduler.jobs import queue_job, work_off
from tests.tasks import claim_task, complete_shard, complete_task
from worker.context import WorkerContext
from worker.handlers import do


def test_what_is_open_is_cancelled_and_what_runs_ends_without_harm(
    engine: Engine, settings: Settings, context: WorkerContext, job: IngestResult
) -> None:
    first, second, third = (key for key, _ in shards(engine))
    do(context, SHARD, first, "task")
    running = claimed(engine, second)
    stored = count(engine, Statistics)
    assert cancel(engine, job.all_evaluations, "The organisers have withdrawn it.") == job.all_evaluations
    assert evaluations(engine) == [("cancelled", "The organisers have withdrawn it.")] * 2
    assert shards(engine) == [(first, "done"), (second, "running"), (third, "cancelled")]
    with writing(engine) as connection:
        completion = complete_shard(connection, running, anything(running))
    assert completion.accepted
    assert completion.ready is None
    assert (count(engine, Statistics), count(engine, Score)) == (stored, 0)
    assert cancel(engine, job.all_evaluations) == []


@one_kind
def test_so_many_are_changed_at_once(engine: Engine, job: IngestResult) -> None:
    with reading(engine) as connection:
        assert [
            each.id for each in plan(connection, Action.CANCEL, EvaluationFilter(), 2).touched
        ] == job.all_evaluations
        with pytest.raises(TooMany) as refused:
            plan(connection, Action.CANCEL, EvaluationFilter(), 1)
    assert str(refused.value) == "2 evaluations are selected; at most 1 can be changed at once. Select fewer."


@one_kind
def test_of_many_that_are_selected_only_those_count_that_change(engine: Engine, job: IngestResult) -> None:
    first, second = job.all_evaluations
    assert cancel(engine, [first]) == [first]
    with reading(engine) as connection:
        found = plan(connection, Action.CANCEL, EvaluationFilter(), 1)
    assert ([each.id for each in found.touched], [each.id for each in found.left]) == ([second], [first])


@one_kind
def test_only_what_was_asked_for_is_cancelled(engine: Engine, settings: Settings, job: IngestResult) -> None:
    mine, other = job.all_evaluations
    assert cancel(engine, [mine]) == [mine]
    assert evaluations(engine) == [("cancelled", CANCELLED), ("queued", None)]
    work_off(settings)
    assert evaluations(engine) == [("cancelled", CANCELLED), ("done", None)]
    assert cancel(engine, [mine, other]) == []


def test_cancelled_while_the_last_shard_completes(
    engine: Engine, settings: Settings, context: WorkerContext, job: IngestResult
) -> None:
    *others, last = (key for key, _ in shards(engine))
    for key in others:
        do(context, SHARD, key, "task")
    claim = claimed(engine, last)
    completion, cancelled = behind(
        engine,
        lambda connection: complete_shard(connection, claim, anything(claim)),
        lambda: cancel(engine, job.all_evaluations),
    )
    assert completion.ready is not None
    assert cancelled == job.all_evaluations
    do(context, REDUCTION, completion.ready[1], "task")
    assert evaluations(engine) == [("cancelled", CANCELLED)] * 2
    assert count(engine, Score) == 0


def test_the_last_shard_completes_while_its_evaluation_is_cancelled(
    engine: Engine, settings: Settings, context: WorkerContext, job: IngestResult
) -> None:
    *others, last = (key for key, _ in shards(engine))
    for key in others:
        do(context, SHARD, key, "task")
    claim = claimed(engine, last)

    def complete() -> object:
        with writing(engine) as connection:
            return complete_shard(connection, claim, anything(claim))

    mine, other = job.all_evaluations
    cancelled, completion = behind(engine, lambda connection: cancel_evaluations(connection, [mine], None), complete)
    assert cancelled == [mine]
    assert completion.ready is not None
    assert [state for state, _ in evaluations(engine)] == ["cancelled", "reducing"]
    with reading(engine) as connection:
        of_last = select(Statistics.evaluation_id).where(Statistics.first_block == 2)
        assert connection.scalars(of_last).all() == [other]


def test_finished_shards_are_kept_and_nothing_else_is(
    engine: Engine, settings: Settings, context: WorkerContext, undisturbed: Scores
) -> None:
    job = queue(engine, settings, team="harbour", queue_class=QueueClass.NIGHTLY)
    with writing(engine) as connection:
        connection.execute(update(Evaluation).values(due_at=4e9, fault="platform"))
    first, second, third = (key for key, _ in shards(engine))
    do(context, SHARD, first, "task")
    late = claimed(engine, second)
    cancel(engine, job.all_evaluations)
    assert retry(engine, settings, job.all_evaluations) == job.all_evaluations
    fresh = shards(engine)[3:]
    assert [state for _, state in fresh] == ["pending"] * 2
    with reading(engine) as connection:
        rows = connection.execute(
            select(Evaluation.queue_class, Evaluation.team, Evaluation.due_at, Evaluation.fault, Evaluation.remaining)
        ).all()
        of_shards = select(Shard.first_block, Shard.queue_class, Shard.team, Shard.due_at).where(
            Shard.state == LeaseState.PENDING
        )
        waiting = connection.execute(of_shards.order_by(Shard.first_block)).all()
    assert rows == [(2, "harbour", 4e9, None, 2)] * 2
    assert waiting == [(1, 2, "harbour", 4e9), (2, 2, "harbour", 4e9)]
    with writing(engine) as connection:
        assert complete_shard(connection, late, anything(late)).accepted, "it was not dropped, but reclaimed"
    work_off(settings)
    assert stored_scores(engine) == undisturbed
    with reading(engine) as connection:
        assert connection.scalar(select(func.sum(Shard.attempts))) == 4, "a block was scored more often than needed"
    assert shards(engine)[2] == (third, "cancelled")


def test_results_from_before_and_after_a_retry_that_come_together_are_told_apart(
    engine: Engine, settings: Settings, job: IngestResult
) -> None:
    """The shard that was claimed before is the other evaluation's alone by now."""
    mine, other = job.all_evaluations

    def by_one_worker(key: int) -> ClaimedShard:
        with writing(engine) as connection:
            claim = claim_task(connection, SHARD, key, owner="o", worker="w", lease_seconds=60, max_attempts=3)
        assert claim is not None
        return claim

    before = by_one_worker(shards(engine)[1][0])
    assert before.evaluations == (mine, other)
    cancel(engine, [mine])
    assert retry(engine, settings, [mine]) == [mine]
    fresh = [by_one_worker(key) for key, _ in shards(engine)[3:]]
    after = next(each for each in fresh if each.first_block == before.first_block)
    assert after.evaluations == (mine,)

    def scored(claim: ClaimedShard, blob: bytes) -> tuple[ClaimedShard, ScoredShard]:
        rows = [ShardRow(evaluation, metric, blob, None) for evaluation in claim.evaluations for metric in (0, 1)]
        return claim, ScoredShard(rows, None)

    with reading(engine) as connection:
        waiting = {row.id: row.remaining for row in connection.execute(select(Evaluation.id, Evaluation.remaining))}
    with writing(engine) as connection:
        done = [scored(before, b"before"), scored(after, b"after")]
        assert len(complete_several(connection, SHARD, done).accepted) == 2
    with reading(engine) as connection:
        stored = select(Statistics.evaluation_id, Statistics.first_block, Statistics.blob).distinct()
        rows = connection.execute(stored.order_by(Statistics.evaluation_id)).all()
        left = {row.id: row.remaining for row in connection.execute(select(Evaluation.id, Evaluation.remaining))}
    assert [tuple(row) for row in rows] == [(mine, 1, b"after"), (other, 1, b"before")]
    assert left == {evaluation: count - 1 for evaluation, count in waiting.items()}


def test_a_comparison_is_cancelled_and_may_be_asked_for_again(engine: Engine, settings: Settings) -> None:
    job = queue_job(engine, settings, segments=20, systems=2)
    work_off(settings)
    a, b = job.all_evaluations
    contest = RandomizationPlan(job.protocols[0], ((a,), (b,)), (Pair(0, 0, 1),), 99, 7)

    def begin() -> int:
        with writing(engine) as connection:
            return start_comparison(connection, contest, [(0, 50), (50, 99)], queue_class=0, team="", edition=EDITION)

    first = begin()
    assert begin() == first
    with reading(engine) as connection:
        (seen,) = read_overview(connection, silent_seconds=5.0).comparisons
    assert (seen.id, seen.test_set, seen.tests, seen.trials, seen.tasks_left) == (first, "trial", 1, 99, 2)
    with writing(engine) as connection:
        key = connection.scalars(select(Trials.id)).first()
        assert key is not None
        claim = claim_task(connection, TRIALS, key, owner="o", worker="w", lease_seconds=9, max_attempts=3)
        assert claim is not None
    with writing(engine) as connection:
        assert end_comparisons(connection, [first, 99], "Asked for by mistake.") == [first]
    with writing(engine) as connection:
        # Trials that were being made are dropped.
        assert complete_task(connection, TRIALS, claim, np.zeros(1, np.int64)).accepted
        assert connection.execute(select(Comparison.state, Comparison.reason)).all() == [
            (ComparisonState.FAILED, "Asked for by mistake.")
        ]
        assert not read_overview(connection, silent_seconds=5.0).comparisons
    assert count(engine, Randomization) == 0
    with writing(engine) as connection:
        assert end_comparisons(connection, [first], "Again.") == []
    assert begin() > first


def planned(engine: Engine, action: Action, **selection: object) -> list[int]:
    with reading(engine) as connection:
        return [each.id for each in plan(connection, action, EvaluationFilter(**selection)).touched]


def refused(engine: Engine, action: Action, **selection: object) -> str:
    with pytest.raises((NotFound, NothingToDo)) as error:
        planned(engine, action, **selection)
    return str(error.value)


@one_kind
def test_choosing(engine: Engine, settings: Settings) -> None:
    first = queue(engine, settings, team="harbour").all_evaluations
    second = queue(engine, settings, campaign="rehearsal").all_evaluations
    cancel(engine, first[:1])
    assert planned(engine, Action.CANCEL, evaluations=tuple(first)) == first[1:]
    assert planned(engine, Action.CANCEL, campaign="rehearsal") == second
    assert planned(engine, Action.CANCEL, name="trial") == [*first[1:], *second], "the test set has that name"
    assert planned(engine, Action.CANCEL, system="harbour/system1") == first[1:]
    assert planned(engine, Action.CANCEL, system="system1") == [first[1], second[1]]
    assert planned(engine, Action.CANCEL, system="system1", campaign="rehearsal") == second[1:]
    assert planned(engine, Action.CANCEL, team="harbour") == first[1:]
    assert planned(engine, Action.RETRY, states=(EvaluationState.CANCELLED, EvaluationState.DONE)) == first[:1]
    assert refused(engine, Action.CANCEL, campaign="trail") == (
        'There is no campaign "trail". There are: rehearsal, trial.'
    )
    assert refused(engine, Action.CANCEL, team="harbor") == ('There is no work of a team "harbor". There are: harbour.')
    assert refused(engine, Action.CANCEL, system="system2").endswith("There are: system0, system1.")
    assert refused(engine, Action.RETRY, evaluations=(first[1], 77, 78)) == (
        "There is no evaluation 77, 78. There are 4, numbered 1 to 4."
    )
    assert refused(engine, Action.RETRY, campaign="rehearsal") == (
        "None of the 2 evaluations is failed or cancelled: 2 queued. Only failed and cancelled ones can be retried; "
        "`recompute` repeats finished ones."
    )
    assert refused(engine, Action.RECOMPUTE, evaluations=(second[0],)) == (
        "The evaluation is queued. Open ones can be cancelled first."
    )
    assert refused(engine, Action.CANCEL, team="harbour", campaign="rehearsal").startswith("No evaluation matches all")
