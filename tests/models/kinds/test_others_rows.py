"""Tasks of every kind leave the rows of other work alone."""

import numpy as np
import pytest
from sqlalchemy import Engine, select

from models.database.session import reading, writing
from models.queue.evaluation_end import cancel_evaluations
from models.queue.kinds.comparisons import TRIALS, end_comparisons_of, start_comparison
from models.queue.kinds.corpus_statistics import CORPUS_COUNT
from models.results.randomizations import Pair, RandomizationPlan
from models.schema.base import now
from models.schema.queue import (
    Comparison,
    CorpusCount,
    Evaluation,
    Reduction,
    Shard,
    Trials,
)
from models.schema.states import ComparisonState, Fault
from steelyard.metrics.metric import EDITION
from tests.models.kinds.rows import claim, ends, release, waiting_keys
from tests.models.queue.test_shards import results
from tests.scheduler.jobs import one_block_shards, queue_job
from tests.tasks import complete_shard, complete_task


@pytest.mark.usefixtures("others")
def test_shards_and_reductions_leave_those_of_others_alone(engine: Engine, sqlite_url: str) -> None:
    job = queue_job(engine, one_block_shards(sqlite_url), segments=300, systems=3)
    first, second = waiting_keys(engine, Shard, job)
    for permanent in (False, True):
        assert claim(engine, Shard, second) is not None
        assert ends(engine, job) == ["running"] * 3
        assert release(engine, Shard, second, permanent=permanent)
    one, *rest = waiting_keys(engine, Shard, job)[1:]
    assert len(rest) == 2, "one for each evaluation"
    claim(engine, Shard, one)
    assert release(engine, Shard, one, permanent=True)
    assert waiting_keys(engine, Shard, job) == [first, *rest], "nothing is left to do for the one that failed"
    for key in (first, *rest):
        claimed = claim(engine, Shard, key)
        with writing(engine) as connection:
            assert complete_shard(connection, claimed, results(claimed)).accepted
    assert ends(engine, job) == ["failed", "reducing", "reducing"]
    reductions = waiting_keys(engine, Reduction, job)
    for permanent in (False, True):
        for key in reductions:
            assert claim(engine, Reduction, key) is not None
            assert release(engine, Reduction, key, permanent=permanent)
        if not permanent:
            assert waiting_keys(engine, Reduction, job) == reductions
    # Those of a single evaluation have failed.
    assert set(ends(engine, job)) == {"failed"}
    assert waiting_keys(engine, Reduction, job) == []


@pytest.mark.usefixtures("others")
def test_what_is_cancelled_is_that_of_the_job(engine: Engine, sqlite_url: str) -> None:
    job = queue_job(engine, one_block_shards(sqlite_url), segments=300, systems=2, metrics=["nist"])
    shards, parts = (waiting_keys(engine, table, job) for table in (Shard, CorpusCount))
    with writing(engine) as connection:
        assert cancel_evaluations(connection, [], "nobody") == []
        assert cancel_evaluations(connection, job.all_evaluations[:1], "no") == job.all_evaluations[:1]
    assert ends(engine, job) == ["cancelled", "queued"]
    assert (waiting_keys(engine, Shard, job), waiting_keys(engine, CorpusCount, job)) == (shards, parts)
    with writing(engine) as connection:
        assert cancel_evaluations(connection, job.all_evaluations, "no", counts=True) == job.all_evaluations[1:]
    assert ends(engine, job) == ["cancelled"] * 2
    with reading(engine) as connection:
        theirs = select(Evaluation).where(Evaluation.id.in_(job.all_evaluations)).order_by(Evaluation.id)
        found = [(row.reason, row.fault) for row in connection.execute(theirs)]
    assert found == [("no", None), ("no", Fault.INPUT)]
    assert (waiting_keys(engine, Shard, job), waiting_keys(engine, CorpusCount, job)) == ([], [])


@pytest.mark.usefixtures("others")
def test_corpus_counts_leave_those_of_others_alone(engine: Engine, sqlite_url: str) -> None:
    job = queue_job(engine, one_block_shards(sqlite_url), segments=300, systems=2, metrics=["nist"])
    first, second = waiting_keys(engine, CorpusCount, job)
    assert claim(engine, CorpusCount, first) is not None
    assert release(engine, CorpusCount, first)
    for key in (first, second, None):
        [key] = [key] if key else waiting_keys(engine, CorpusCount, job)
        mine = claim(engine, CorpusCount, key)
        with writing(engine) as connection:
            assert complete_task(connection, CORPUS_COUNT, mine, b"counted").accepted
    with reading(engine) as connection:
        sendable = select(Shard.not_before <= now()).where(Shard.protocol_id == job.protocols[0])
        assert list(connection.scalars(sendable)) == [True, True]


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize("how", ["done", "failed", "ended"])
def test_trials_leave_those_of_others_alone(engine: Engine, sqlite_url: str, how: str) -> None:
    job = queue_job(engine, one_block_shards(sqlite_url), segments=20, systems=2)
    a, b = job.all_evaluations
    contest = RandomizationPlan(job.protocols[0], ((a,), (b,)), (Pair(0, 0, 1),), 99, 7)
    with writing(engine) as connection:
        comparison = start_comparison(
            connection, contest, [(0, 50), (50, 99)], queue_class=1, team="t", edition=EDITION
        )
        trials = select(Trials.id).where(Trials.comparison_id == comparison).order_by(Trials.id)
        first, second = connection.scalars(trials)
    assert claim(engine, Trials, first) is not None
    assert release(engine, Trials, first)
    mine = claim(engine, Trials, first)
    with writing(engine) as connection:
        assert complete_task(connection, TRIALS, mine, np.array([5])).accepted
    mine = claim(engine, Trials, second)
    if how == "failed":
        assert release(engine, Trials, second, permanent=True)
    with writing(engine) as connection:
        if how == "ended":
            assert end_comparisons_of(connection, [b], "gone") == [comparison]
            assert end_comparisons_of(connection, [b], "gone") == []
        if how == "done":
            assert complete_task(connection, TRIALS, mine, np.array([5])).accepted
    with reading(engine) as connection:
        found = connection.scalar(select(Comparison.state).where(Comparison.id == comparison))
    # Nobody has scored the two: the tests cannot be stored.
    assert found == ComparisonState.FAILED
