"""The state machine: claimed, completed and released in every order, results are stored once."""

import threading
from collections.abc import Iterator

import numpy as np
import pytest
from sqlalchemy import Connection, Engine, func, insert, select, update

from models.database.session import make_engine, reading, writing
from models.queue.evaluation_end import cancel_evaluations
from models.queue.kinds.reductions import REDUCTION, ClaimedReduction
from models.queue.kinds.shards import SHARD, ClaimedShard, ShardRow, ShardTiming
from models.queue.lease import owned_by_task
from models.queue.sweep import find_expired, resend_stale
from models.queue.task_kind import Completion
from models.schema.base import now
from models.schema.corpus import Submission
from models.schema.queue import Evaluation, Shard, ShardEvaluation
from models.schema.results import ReplicatePart, Score, Statistics
from models.schema.states import LeaseState
from models.storage.arrays import pack
from models.storage.blobs import StoredObject
from scheduler.ingest.campaigns import IngestResult
from tests.databases import waits_for_a_lock
from tests.faults.cluster import until
from tests.scheduler.jobs import one_block_shards, queue_job
from tests.tasks import claim_task, complete_shard, complete_task, release_task


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = make_engine(database_url)
    yield engine
    engine.dispose()


@pytest.fixture
def job(engine: Engine, database_url: str) -> IngestResult:
    """Three evaluations that share three shards (blocks of 256, 256 and 88 segments)."""
    return queue_job(engine, one_block_shards(database_url), segments=600)


def shards(engine: Engine) -> list[int]:
    with reading(engine) as connection:
        return list(connection.scalars(select(Shard.id).order_by(Shard.id)))


def claim(connection: Connection, shard: int, owner: str, max_attempts: int = 3) -> ClaimedShard | None:
    return claim_task(connection, SHARD, shard, owner=owner, worker="w", lease_seconds=60, max_attempts=max_attempts)


def results(claimed: ClaimedShard, value: float = 1.0) -> list[ShardRow]:
    blob = pack(np.full((1, 2), value))
    return [ShardRow(evaluation, 0, blob, None) for evaluation in claimed.evaluations]


@pytest.mark.usefixtures("job")
def test_who_did_not_hear_that_his_claim_worked_asks_again(engine: Engine) -> None:
    shard = shards(engine)[0]
    found = []
    for owner in ("a", "a", "b"):
        with writing(engine) as connection:
            found.append(claim(connection, shard, owner))
    assert found[0] is not None
    assert found == [found[0], found[0], None]
    with reading(engine) as connection:
        assert connection.scalar(select(Shard.attempts).where(Shard.id == shard)) == 1


def do_shard(engine: Engine, shard: int, owner: str = "a") -> Completion:
    with writing(engine) as connection:
        claimed = claim(connection, shard, owner)
    assert claimed is not None
    with writing(engine) as connection:
        return complete_shard(connection, claimed, results(claimed))


def take_reduction(connection: Connection, reduction: int, owner: str = "r") -> ClaimedReduction | None:
    return claim_task(connection, REDUCTION, reduction, owner=owner, worker="w", lease_seconds=60, max_attempts=3)


def score_rows(claimed: ClaimedReduction) -> list[dict[str, object]]:
    return [
        {
            "evaluation_id": evaluation,
            "metric": 0,
            "specification": "bleu",
            "title": "BLEU",
            "signature": "s",
            "higher_is_better": True,
            "scale": 100.0,
            "columns": ["a"],
            "sums": b"",
            "score": 1.0,
            "replicate_scores": b"",
        }
        for evaluation in claimed.evaluations
    ]


def states(engine: Engine) -> list[str]:
    with reading(engine) as connection:
        return list(connection.scalars(select(Evaluation.state).order_by(Evaluation.id)))


def test_the_whole_way(engine: Engine, job: IngestResult) -> None:
    assert states(engine) == ["queued"] * 3
    first, second, third = shards(engine)
    # Out of order.
    assert do_shard(engine, third) == Completion(accepted=True)
    assert states(engine) == ["running"] * 3
    assert do_shard(engine, first) == Completion(accepted=True)
    last = do_shard(engine, second)
    assert last.accepted
    assert last.ready is not None
    assert states(engine) == ["reducing"] * 3
    with writing(engine) as connection:
        reduction = take_reduction(connection, last.ready[1])
        assert reduction is not None
        assert list(reduction.evaluations) == job.all_evaluations
        assert complete_task(connection, REDUCTION, reduction, score_rows(reduction)).accepted
    assert states(engine) == ["done"] * 3
    with reading(engine) as connection:
        assert connection.scalar(select(func.count()).select_from(Score)) == 3
        assert connection.scalar(select(func.count()).select_from(Statistics)) == 9
        finished = connection.execute(select(Evaluation.created_at, Evaluation.started_at, Evaluation.finished_at))
        for created, started, ended in finished:
            assert created <= started <= ended


@pytest.mark.usefixtures("job")
def test_only_one_claim_wins(engine: Engine) -> None:
    shard = shards(engine)[0]
    with writing(engine) as connection:
        assert claim(connection, shard, "a") is not None
    with writing(engine) as connection:
        assert claim(connection, shard, "b") is None


@pytest.mark.usefixtures("job")
def test_completed_twice_it_counts_once(engine: Engine) -> None:
    shard = shards(engine)[0]
    with writing(engine) as connection:
        claimed = claim(connection, shard, "a")
    assert claimed is not None
    for accepted in (True, False):
        with writing(engine) as connection:
            assert complete_shard(connection, claimed, results(claimed)).accepted is accepted
    with reading(engine) as connection:
        assert set(connection.scalars(select(Evaluation.remaining))) == {2}


@pytest.mark.usefixtures("job")
def test_a_stale_owner_is_fenced(engine: Engine) -> None:
    shard = shards(engine)[0]
    with writing(engine) as connection:
        stale = claim(connection, shard, "stale")
        assert release_task(connection, SHARD, shard, "stale", "silent", max_attempts=3, delay_seconds=0)
    with writing(engine) as connection:
        fresh = claim(connection, shard, "fresh")
    assert stale is not None
    assert fresh is not None
    with writing(engine) as connection:
        assert not complete_shard(connection, stale, results(stale, 7.0)).accepted
        assert not release_task(connection, SHARD, shard, "stale", "late", max_attempts=3, delay_seconds=0)
    with reading(engine) as connection:
        assert connection.scalar(select(func.count()).select_from(Statistics)) == 0
        assert set(connection.scalars(select(Evaluation.remaining))) == {3}
    with writing(engine) as connection:
        assert complete_shard(connection, fresh, results(fresh)).accepted
    with reading(engine) as connection:
        assert set(connection.scalars(select(Statistics.blob))) == {results(fresh)[0].statistics}


@pytest.mark.usefixtures("job")
def test_attempts_are_counted_at_the_claim(engine: Engine) -> None:
    shard = shards(engine)[0]
    for attempt in (1, 2):
        with writing(engine) as connection:
            assert claim(connection, shard, f"{attempt}", max_attempts=2) is not None
            # The process dies without a word; the lease runs out.
            connection.execute(update(Shard).where(Shard.id == shard).values(state=LeaseState.PENDING, owner=None))
    with writing(engine) as connection:
        assert claim(connection, shard, "3", max_attempts=2) is None


@pytest.mark.usefixtures("job")
def test_out_of_attempts_a_shard_is_split_and_then_fails_alone(engine: Engine) -> None:
    shard = shards(engine)[0]
    with writing(engine) as connection:
        connection.execute(update(Shard).where(Shard.id == shard).values(metrics=[0]))
        claim(connection, shard, "a", max_attempts=1)
        assert release_task(connection, SHARD, shard, "a", "it exploded.", max_attempts=1, delay_seconds=0)
    with reading(engine) as connection:
        split = connection.execute(
            select(Shard.id, Shard.first_block, Shard.last_block, Shard.metrics, ShardEvaluation.evaluation_id)
            .join(ShardEvaluation, ShardEvaluation.shard_id == Shard.id)
            .where(Shard.id > shards(engine)[2])
            .order_by(Shard.id)
        ).all()
        assert [(row.first_block, row.last_block, row.metrics) for row in split] == [(0, 1, [0])] * 3
        assert connection.scalar(select(Shard.state).where(Shard.id == shard)) == "failed"
    assert states(engine) == ["running"] * 3
    bad = split[1]
    with writing(engine) as connection:
        again = claim(connection, bad.id, "b", max_attempts=1)
        assert again is not None
        assert again.metrics == (0,)
        release_task(connection, SHARD, bad.id, "b", "it exploded.", max_attempts=1, delay_seconds=0)
    assert states(engine) == ["running", "failed", "running"]
    with reading(engine) as connection:
        reason = connection.scalar(select(Evaluation.reason).where(Evaluation.id == bad.evaluation_id))
    assert reason == "Segments 1 to 256 could not be scored (tried once): it exploded."
    for other in (*shards(engine)[1:3], split[0].id, split[2].id):
        do_shard(engine, other)
    assert states(engine) == ["reducing", "failed", "reducing"]


@pytest.mark.usefixtures("job")
def test_the_parts_of_a_split_shard_take_its_place(engine: Engine) -> None:
    """In its class, for its team, due when it was; each with its part of the work and fresh attempts."""
    shard = shards(engine)[1]
    given = {"queue_class": 2, "team": "t", "due_at": 5e9, "edition": 7, "metrics": [0]}
    with writing(engine) as connection:
        connection.execute(update(Shard).where(Shard.id == shard).values(**given, cost=6.0))
        claim(connection, shard, "a")
        release_task(connection, SHARD, shard, "a", "no", max_attempts=3, delay_seconds=0, permanent=True)
        for row in connection.execute(select(Shard).where(Shard.id > shards(engine)[2])):
            assert {name: row._mapping[name] for name in given} == given
            assert (row.first_block, row.last_block, row.protocol_id) == (1, 2, 1)
            assert (row.state, row.attempts, row.cost) == (LeaseState.PENDING, 0, 2.0)


def test_who_needs_a_shard_no_more_is_not_worked_for(engine: Engine, job: IngestResult) -> None:
    """A shard that nobody needs is cancelled when it is claimed, if it slipped through before."""
    first, second, _ = shards(engine)
    with writing(engine) as connection:
        cancel_evaluations(connection, job.all_evaluations[:1])
        claimed = claim(connection, first, "a")
        assert claimed is not None
        texts = select(Submission.text_id).where(Submission.id.in_(job.submissions[1:])).order_by(Submission.id)
        assert claimed.evaluations == tuple(job.all_evaluations[1:])
        assert claimed.texts == tuple(connection.scalars(texts))
        assert (claimed.protocol_id, claimed.metrics) == (job.protocols[0], None)
        cancel_evaluations(connection, job.all_evaluations)
        connection.execute(update(Shard).where(Shard.id == second).values(state=LeaseState.ENQUEUED))
        assert claim(connection, second, "b") is None
        assert connection.scalar(select(Shard.state).where(Shard.id == second)) == LeaseState.CANCELLED


@pytest.mark.usefixtures("job")
def test_results_of_a_shard_replace_those_that_are_there(engine: Engine) -> None:
    """Statistics and replicate parts, in the row or as an object, each under its evaluation, metric and blocks."""
    shard = shards(engine)[1]
    with writing(engine) as connection:
        connection.execute(update(Shard).where(Shard.id == shard).values(last_block=3))
        claimed = claim(connection, shard, "a")
        assert claimed is not None
        one, two, three = claimed.evaluations
        for table in (Statistics, ReplicatePart):
            old = {"metric": 1, "first_block": 1, "last_block": 9, "blob": b"old", "object_url": "old"}
            connection.execute(insert(table).values(evaluation_id=one, **old))
        submitted = [
            ShardRow(one, 1, b"statistics", b"part"),
            ShardRow(two, 0, b"more", None),
            ShardRow(three, 0, StoredObject("s3://statistics"), StoredObject("s3://part")),
        ]
        assert complete_shard(connection, claimed, submitted, ShardTiming(2.0, (1.5,))).accepted
        found = {
            table: [tuple(row) for row in connection.execute(select(table).order_by(table.evaluation_id))]
            for table in (Statistics, ReplicatePart)
        }
        timed = connection.execute(select(Shard.kernel_seconds, Shard.metric_seconds).where(Shard.id == shard)).one()
    assert found == {
        Statistics: [
            (one, 1, 1, 3, b"statistics", None),
            (two, 0, 1, 3, b"more", None),
            (three, 0, 1, 3, b"", "s3://statistics"),
        ],
        ReplicatePart: [(one, 1, 1, 3, b"part", None), (three, 0, 1, 3, b"", "s3://part")],
    }
    assert timed == (2.0, [1.5])


def test_cancelled_evaluations_take_their_shards_along(engine: Engine, job: IngestResult) -> None:
    first, second, third = shards(engine)
    with writing(engine) as connection:
        claimed = claim(connection, first, "a")
        cancel_evaluations(connection, job.all_evaluations[:2])
    with reading(engine) as connection:
        assert connection.scalar(select(Shard.state).where(Shard.id == second)) == "pending"
    with writing(engine) as connection:
        cancel_evaluations(connection, job.all_evaluations[2:], "not wanted")
    with reading(engine) as connection:
        assert list(connection.scalars(select(Shard.state).order_by(Shard.id))) == [
            "running",
            "cancelled",
            "cancelled",
        ]
    assert claimed is not None
    with writing(engine) as connection:
        assert complete_shard(connection, claimed, results(claimed)) == Completion(accepted=True)
        assert claim(connection, third, "b") is None
    assert states(engine) == ["cancelled"] * 3
    with reading(engine) as connection:
        assert connection.scalar(select(func.count()).select_from(Statistics)) == 0


@pytest.mark.usefixtures("job")
def test_what_is_lost_is_found(engine: Engine) -> None:
    first, second, third = shards(engine)
    with writing(engine) as connection:
        claim(connection, first, "task-1:x")
        connection.execute(update(Shard).where(Shard.id == first).values(lease_until=now() - 1))
        claim(connection, second, "task-2:y")
        connection.execute(
            update(Shard).where(Shard.id == third).values(state=LeaseState.ENQUEUED, enqueued_at=now() - 100)
        )
    with writing(engine) as connection:
        # The worker "w" never wrote a row, so both shards count as lost.
        assert [(each.key, each.owner) for each in find_expired(connection, 10)] == [
            (first, "task-1:x"),
            (second, "task-2:y"),
        ]
        assert owned_by_task(connection, Shard, "task-1") == [(first, "task-1:x")]
        assert owned_by_task(connection, Shard, "task") == []
        assert resend_stale(connection, 200) == 0
        assert resend_stale(connection, 50) == 1
        assert connection.scalar(select(Shard.state).where(Shard.id == third)) == "pending"


@pytest.mark.parametrize("attempts_left", [True, False])
def test_what_is_completed_meanwhile_is_not_released(postgres_url: str, attempts_left: bool) -> None:
    """Whoever releases a shard waits for its owner who hands it in, and then leaves it alone: done stays done."""
    engine = make_engine(postgres_url)
    queue_job(engine, one_block_shards(postgres_url), segments=600)
    shard = shards(engine)[0]
    with writing(engine) as connection:
        claimed = claim(connection, shard, "a")
    assert claimed is not None
    released: list[bool] = []

    def release() -> None:
        attempts = 3 if attempts_left else 1
        with writing(engine) as connection:
            released.append(
                release_task(connection, SHARD, shard, "a", "it is gone", max_attempts=attempts, delay_seconds=0)
            )

    thread = threading.Thread(target=release)
    with writing(engine) as connection:
        assert complete_shard(connection, claimed, results(claimed)).accepted
        thread.start()
        until(lambda: waits_for_a_lock(engine), "the one who releases it")
    thread.join(60)
    assert released == [False]
    with reading(engine) as connection:
        assert connection.scalar(select(Shard.state).where(Shard.id == shard)) == LeaseState.DONE
        assert connection.scalar(select(func.count()).select_from(Shard)) == 3
        assert set(connection.scalars(select(Evaluation.remaining))) == {2}
    engine.dispose()
