"""What is measured anew, and what is tried again."""

from dataclasses import replace

from sqlalchemy import Connection, Engine, func, select, update

from models.database.session import reading, writing
from models.queue.evaluation_end import lock_evaluations
from models.queue.kinds.comparisons import start_comparison
from models.queue.kinds.reductions import REDUCTION
from models.results.fingerprints import read_fingerprints
from models.results.randomizations import Pair, RandomizationPlan
from models.schema.queue import Comparison, Evaluation, Shard, ShardEvaluation, Trials
from models.schema.results import Randomization, ReplicatePart, Score, Statistics, SystemRuns
from models.schema.states import UNFINISHED, ComparisonState, EvaluationState, LeaseState
from runtime.settings import Settings
from scheduler.admin import cancel, recompute, retry
from scheduler.enqueue.randomization import request_comparison
from scheduler.ingest.campaigns import IngestResult
from steelyard.metrics.metric import EDITION
from tests.faults.cluster import Scores, stored_scores
from tests.scheduler.admin.evaluations import anything, behind, claimed, count, evaluations, one_kind, queue, shards
from tests.scheduler.jobs import queue_job, work_off
from tests.tasks import claim_task, complete_shard, complete_task
from worker.context import WorkerContext


def test_two_who_try_again_at_once_queue_it_once(engine: Engine, settings: Settings, job: IngestResult) -> None:
    cancel(engine, job.all_evaluations)
    before = count(engine, Shard)

    def hold(connection: Connection) -> list[int]:
        held = lock_evaluations(connection, job.all_evaluations, UNFINISHED)
        # What the other one does first of all.
        connection.execute(update(Evaluation).where(Evaluation.id == held[0]).values(state=EvaluationState.QUEUED))
        return held

    held, queued = behind(engine, hold, lambda: retry(engine, settings, job.all_evaluations))
    assert held == job.all_evaluations
    assert queued == held[1:]
    assert retry(engine, settings, job.all_evaluations) == []
    assert count(engine, Shard) == before + 3


def test_requeued_after_the_disk_has_lied(
    engine: Engine, settings: Settings, job: IngestResult, undisturbed: Scores
) -> None:
    work_off(settings)
    assert stored_scores(engine) == undisturbed
    with reading(engine) as connection:
        good = read_fingerprints(connection, job.all_evaluations)
    with writing(engine) as connection:
        blob = select(Statistics.blob).where(Statistics.evaluation_id == 1, Statistics.first_block == 1)
        wrong = update(Statistics).where(Statistics.evaluation_id == 1, Statistics.first_block == 0)
        connection.execute(wrong.values(blob=blob.scalar_subquery()))
        connection.execute(update(Score).where(Score.evaluation_id == 1).values(score=Score.score + 1e-12))
    done = recompute(engine, settings, job.all_evaluations)
    assert done.evaluations == tuple(job.all_evaluations)
    assert [done.scores[key].digest == good[key].digest for key in ((1, 0), (2, 0))] == [False, True]
    assert evaluations(engine) == [("queued", None)] * 2
    assert [count(engine, table) for table in (Statistics, ReplicatePart, Score)] == [0, 0, 0]
    assert [state for _, state in shards(engine)] == ["done"] * 3 + ["pending"] * 3
    assert count(engine, ShardEvaluation) == 6, "shards of before still count as theirs"
    work_off(settings)
    assert stored_scores(engine) == undisturbed
    with reading(engine) as connection:
        assert read_fingerprints(connection, job.all_evaluations) == good


@one_kind
def test_nothing_of_others_is_reused_for_a_requeued_evaluation(engine: Engine, settings: Settings) -> None:
    """The same outputs were measured in another campaign: their statistics may have suffered in the same way."""
    mine = queue(engine, settings)
    work_off(settings)
    queue(engine, settings, campaign="twin")
    work_off(settings)
    recompute(engine, settings, mine.all_evaluations)
    with reading(engine) as connection:
        theirs = Statistics.evaluation_id.in_(mine.all_evaluations)
        assert connection.scalar(select(func.count()).select_from(Statistics).where(theirs)) == 0
        waiting = select(Shard.first_block).where(Shard.state == LeaseState.PENDING).order_by(Shard.first_block)
        assert connection.scalars(waiting).all() == [0, 1, 2]


@one_kind
def test_an_open_evaluation_is_not_requeued(engine: Engine, settings: Settings, job: IngestResult) -> None:
    mine, other = job.all_evaluations
    cancel(engine, [mine])
    assert recompute(engine, settings, job.all_evaluations).evaluations == (mine,)
    assert recompute(engine, settings, job.all_evaluations).evaluations == ()
    assert other in job.all_evaluations
    assert evaluations(engine) == [("queued", None)] * 2


def test_tests_that_rest_on_it_go_and_comparisons_that_read_it_fail(engine: Engine, settings: Settings) -> None:
    job = queue_job(engine, settings, segments=20, systems=3, runs={2: 2})
    work_off(settings)
    a, b, c, d = job.all_evaluations
    protocol = job.protocols[0]
    request_comparison(engine, settings, protocol, [((a,), (b,)), ((a,), (c, d))], [0], trials=20, seed=1)
    assert (count(engine, Randomization), count(engine, SystemRuns)) == (2, 4)
    contests = {
        systems: RandomizationPlan(protocol, systems, (Pair(0, 0, 1),), 99, 7)
        for systems in (((a,), (c, d)), ((a,), (b,)))
    }
    with writing(engine) as connection:
        theirs, others = (
            start_comparison(connection, contest, [(0, 50), (50, 99)], queue_class=0, team="", edition=EDITION)
            for contest in contests.values()
        )
    done = recompute(engine, settings, [c])
    assert done.comparisons == (theirs,)
    with reading(engine) as connection:
        rows = connection.execute(select(Comparison.id, Comparison.state, Comparison.reason).order_by(Comparison.id))
        assert [(row.id, row.state) for row in rows] == [
            (theirs, ComparisonState.FAILED),
            (others, ComparisonState.RUNNING),
        ]
        trials = connection.scalars(select(Trials.state).order_by(Trials.id)).all()
    assert trials == ["cancelled", "cancelled", "pending", "pending"]
    # The row of the second run goes with that of the first.
    assert (count(engine, Randomization), count(engine, SystemRuns)) == (1, 2)


@one_kind
def test_an_older_reduction_stores_nothing_for_a_requeued_evaluation(
    engine: Engine, settings: Settings, context: WorkerContext, job: IngestResult
) -> None:
    work_off(settings)
    with reading(engine) as connection:
        old = [dict(row._mapping) for row in connection.execute(select(Score))]
    recompute(engine, settings, job.all_evaluations)
    waiting = [key for key, state in shards(engine) if state == LeaseState.PENDING]

    def reduce_once() -> object:
        """Bring both to `reducing`, and claim their reduction."""
        for key in waiting:
            claim = claimed(engine, key)
            with writing(engine) as connection:
                completion = complete_shard(connection, claim, anything(claim))
        with writing(engine) as connection:
            return claim_task(
                connection, REDUCTION, completion.ready[1], owner="r", worker="w", lease_seconds=60, max_attempts=3
            )

    stale = reduce_once()
    cancel(engine, job.all_evaluations)
    recompute(engine, settings, job.all_evaluations)
    waiting = [key for key, state in shards(engine) if state == LeaseState.PENDING]
    reduce_once()
    assert [state for state, _ in evaluations(engine)] == ["reducing"] * 2
    with writing(engine) as connection:
        assert complete_task(connection, REDUCTION, replace(stale), old).accepted
    assert [state for state, _ in evaluations(engine)] == ["reducing"] * 2
    assert count(engine, Score) == 0
