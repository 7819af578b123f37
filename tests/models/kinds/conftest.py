"""A database, and other work in it that must stay as it is."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, insert, select, update

from models.database.session import make_engine, writing
from models.queue.kinds.comparisons import start_comparison
from models.results.randomizations import Pair, RandomizationPlan
from models.schema.base import now
from models.schema.learned import LearnedColumn, LearnedShard, LearnedShardEvaluation
from models.schema.queue import (
    CorpusCount,
    CorpusStatistics,
    Evaluation,
    Reduction,
    Shard,
    ShardEvaluation,
    Trials,
)
from models.schema.states import NOT_YET, EvaluationState, LeaseState
from steelyard.metrics import built_in
from steelyard.metrics.metric import EDITION
from tests.models.kinds.rows import all_rows
from tests.scheduler.jobs import one_block_shards, queue_job


@pytest.fixture(autouse=True)
def vowels(monkeypatch: pytest.MonkeyPatch) -> None:
    """A learned metric that is known here alone."""
    monkeypatch.setitem(built_in.LEARNED, "vowels", "tests.worker.learned_metric:Vowels")


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
            LearnedShard: {
                "protocol_id": protocol,
                "metric": 0,
                "specification": "vowels",
                "first_block": 0,
                "last_block": 1,
                "segments": 20,
            },
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
            connection.execute(insert(LearnedColumn).values(evaluation_id=evaluation, metric=0, remaining=1))
            connection.execute(
                insert(LearnedShardEvaluation).values(learned_shard_id=keys[LearnedShard], evaluation_id=evaluation)
            )
    before = all_rows(engine)
    yield
    after = all_rows(engine)
    assert {key: after.get(key) for key in before} == before
