"""Tasks of every kind leave the rows of other work alone."""

from collections.abc import Iterator

import numpy as np
import pytest
from sqlalchemy import Engine, insert, select, update

from models.database.session import make_engine, reading, writing
from models.queue.evaluation_end import cancel_evaluations
from models.queue.kinds.comparisons import TRIALS, end_comparisons_of, start_comparison
from models.queue.kinds.corpus_statistics import CORPUS_COUNT
from models.results.randomizations import Pair, RandomizationPlan
from models.schema.base import now
from models.schema.queue import (
    Comparison,
    CorpusCount,
    CorpusStatistics,
    Evaluation,
    Reduction,
    Shard,
    ShardEvaluation,
    Trials,
)
from models.schema.states import NOT_YET, ComparisonState, EvaluationState, Fault, LeaseState
from steelyard.metrics.metric import EDITION
from tests.models.queue.test_shards import results
from tests.models.test_every_kind import all_rows, claim, ends, release, waiting_keys
from tests.scheduler.jobs import one_block_shards, queue_job
from tests.tasks import complete_shard, complete_task


@pytest.fixture
def engine(sqlite_url: str) -> Iterator[Engine]:
    engine = make_engine(sqlite_url)
    yield engine
    engine.dispose()


@pytest.fixture
def others(engine: Engine, sqlite_url: str) -> Iterator[None]:
    """Another job with evaluations and work in every state, in the same hands: not a row of it changes or goes."""
    job = queue_job(
        *(engine, one_block_shards(sqlite_url)),
        segments=20,
        systems=6,
        metrics=["nist", "wer"],
        campaign="other",
        seed=9,
    )
    [protocol] = job.protocols
    held = {"owner": "o", "worker": "w", "lease_until": now() + 1000, "attempts": 1, "edition": EDITION}
    with writing(engine) as connection:
        state = connection.scalars(select(CorpusStatistics.id)).one()
        contest = RandomizationPlan(protocol, ((1,), (2,)), (Pair(0, 0, 1),), 99, 7)
        comparison = start_comparison(connection, contest, [(0, 99)], queue_class=0, team="", edition=EDITION)
        known = {
            Shard: {"protocol_id": protocol, "first_block": 0, "last_block": 1, "cost": 1.0},
            Reduction: {"protocol_id": protocol},
            CorpusCount: {"corpus_statistics_id": state, "first_block": 0, "last_block": 1, "part": b"part"},
            Trials: {"comparison_id": comparison, "first_trial": 0, "last_trial": 99, "counts": b"counts"},
        }
        for each, evaluation, lease in zip(EvaluationState, job.all_evaluations, LeaseState, strict=True):
            keys = {
                table: connection.execute(
                    insert(table).values(**held, **values, state=lease, not_before=NOT_YET).returning(table.id)
                ).scalar_one()
                for table, values in known.items()
            }
            connection.execute(
                update(Evaluation)
                .where(Evaluation.id == evaluation)
                .values(state=each, reduction_id=keys[Reduction], remaining=7)
            )
            connection.execute(insert(ShardEvaluation).values(shard_id=keys[Shard], evaluation_id=evaluation))
    before = all_rows(engine)
    yield
    after = all_rows(engine)
    assert {key: after.get(key) for key in before} == before


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
def test_preparations_leave_those_of_others_alone(engine: Engine, sqlite_url: str) -> None:
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
