"""Reductions: claimed, split, released and repeated."""

import threading
from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, func, insert, select, update

from models.database.session import make_engine, reading, writing
from models.queue.evaluation_end import cancel_evaluations
from models.queue.kinds.reductions import REDUCTION
from models.queue.kinds.shards import ClaimedShard
from models.queue.task_kind import Completion
from models.schema.base import now
from models.schema.queue import Evaluation, Reduction, Shard
from models.schema.results import Score, Statistics
from models.schema.states import LeaseState
from scheduler.enqueue.evaluations import enqueue_evaluations
from scheduler.ingest.campaigns import IngestResult
from tests.models.queue.test_shards import claim, do_shard, results, score_rows, shards, states, take_reduction
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


@pytest.mark.usefixtures("job")
def test_a_reduction_takes_the_turn_of_its_evaluations(engine: Engine) -> None:
    """They began with their first shards; one that had nothing to be scored begins with it."""
    given = {"queue_class": 2, "team": "t", "due_at": 5e9, "edition": 7}
    *before, last = shards(engine)
    for shard in before:
        do_shard(engine, shard)
    with writing(engine) as connection:
        connection.execute(update(Evaluation).values(**given))
        claimed = claim(connection, last, "a")
        assert claimed is not None
        # As people edit it: a shard of it is done all the same.
        connection.execute(update(Evaluation).values(state="queued", remaining=1, started_at=3.0))
        connection.execute(update(Evaluation).where(Evaluation.id == 1).values(remaining=2))
        connection.execute(update(Evaluation).where(Evaluation.id == 2).values(started_at=None))
        reduction = complete_shard(connection, claimed, results(claimed)).ready[1]
        assert reduction is not None
        row = connection.execute(select(Reduction, now().label("now")).where(Reduction.id == reduction)).one()
        assert {name: row._mapping[name] for name in given} == given
        assert (row.protocol_id, row.state, row.attempts) == (1, LeaseState.PENDING, 0)
        found = select(Evaluation.id, Evaluation.state, Evaluation.reduction_id, Evaluation.started_at)
        one, two, three = connection.execute(found.order_by(Evaluation.id)).all()
        assert (one, three) == ((1, "running", None, 3.0), (3, "reducing", reduction, 3.0))
        assert two == (2, "reducing", reduction, pytest.approx(row.now, abs=60)), "with the shard, as it had not begun"
        connection.execute(update(Evaluation).where(Evaluation.id == 2).values(started_at=None))
        given = {"owner": "b", "worker": "w", "lease_seconds": 60.0, "max_attempts": 3}
        assert claim_task(connection, REDUCTION, reduction, **given) is not None
        one, two, three = connection.execute(found.order_by(Evaluation.id)).all()
        assert (one.started_at, three.started_at) == (3.0, 3.0)
        assert two.started_at == pytest.approx(row.now, abs=60)


@pytest.mark.usefixtures("job")
def test_two_last_shards_at_once_start_one_reduction(engine: Engine) -> None:
    first, *last_two = shards(engine)
    do_shard(engine, first)
    claims = []
    for shard in last_two:
        with writing(engine) as connection:
            claims.append(claim(connection, shard, "a"))
    barrier = threading.Barrier(2)
    found: list[Completion] = []

    def complete(claimed: ClaimedShard) -> None:
        with writing(engine) as connection:
            # On PostgreSQL both transactions are open before either writes.
            if engine.dialect.name == "postgresql":
                connection.execute(select(func.count()).select_from(Evaluation))
                barrier.wait(60)
            found.append(complete_shard(connection, claimed, results(claimed)))

    threads = [threading.Thread(target=complete, args=(each,)) for each in claims]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [each.accepted for each in found] == [True, True]
    assert sum(each.ready is not None for each in found) == 1
    assert states(engine) == ["reducing"] * 3


def test_returned_to_queued_an_evaluation_keeps_what_it_has(
    engine: Engine, job: IngestResult, database_url: str
) -> None:
    first, second, _ = shards(engine)
    do_shard(engine, first)
    with writing(engine) as connection:
        late = claim(connection, second, "late")
        cancel_evaluations(connection, job.all_evaluations)
    assert late is not None
    with writing(engine) as connection:
        again = enqueue_evaluations(connection, one_block_shards(database_url), job.protocols[0], job.submissions)
    assert again == job.all_evaluations
    assert states(engine) == ["queued"] * 3
    # A shard from before the cancellation ends: it must not count for the new ones.
    with writing(engine) as connection:
        assert complete_shard(connection, late, results(late, 9.0)) == Completion(accepted=True)
    with reading(engine) as connection:
        new = connection.execute(
            select(Shard.id, Shard.first_block).where(Shard.state == LeaseState.PENDING).order_by(Shard.id)
        ).all()
        assert [row.first_block for row in new] == [1, 2]
        assert set(connection.scalars(select(Evaluation.remaining))) == {2}
    do_shard(engine, new[0].id)
    assert do_shard(engine, new[1].id).ready is not None
    with reading(engine) as connection:
        assert len(set(connection.scalars(select(Statistics.blob)))) == 1


def test_requeued_with_all_statistics_it_is_reduced_at_once(
    engine: Engine, job: IngestResult, database_url: str
) -> None:
    completions = [do_shard(engine, shard) for shard in shards(engine)]
    with writing(engine) as connection:
        assert completions[-1].ready is not None
        assert take_reduction(connection, completions[-1].ready[1]) is not None
        cancel_evaluations(connection, job.all_evaluations[:1])
        enqueue_evaluations(connection, one_block_shards(database_url), job.protocols[0], job.submissions)
    assert states(engine) == ["reducing"] * 3
    with reading(engine) as connection:
        assert connection.scalar(select(func.count()).select_from(Reduction)) == 2


def test_a_reduction_from_before_ends_only_those_that_still_wait_for_it(
    engine: Engine, job: IngestResult, database_url: str
) -> None:
    """One was cancelled and queued again meanwhile; one has scores that somebody has left when he set it back."""
    reduction = [do_shard(engine, shard) for shard in shards(engine)][-1].ready[1]
    assert reduction is not None
    with writing(engine) as connection:
        late = take_reduction(connection, reduction)
        assert late is not None
        cancel_evaluations(connection, job.all_evaluations[:1])
        enqueue_evaluations(connection, one_block_shards(database_url), job.protocols[0], job.submissions)
        connection.execute(update(Evaluation).values(reason="Odd."))
        connection.execute(insert(Score).values(**{**score_rows(late)[1], "score": 9.0, "signature": "old"}))
        assert complete_task(connection, REDUCTION, late, score_rows(late)).accepted
    assert states(engine) == ["reducing", "done", "done"]
    with reading(engine) as connection:
        found = connection.execute(select(Score.evaluation_id, Score.score, Score.signature)).all()
        assert sorted(found) == [(evaluation, 1.0, "s") for evaluation in job.all_evaluations[1:]]
        ended = select(Evaluation.reason, Evaluation.finished_at.is_not(None)).order_by(Evaluation.id)
        assert connection.execute(ended).all() == [("Odd.", False), (None, True), (None, True)]


@pytest.mark.usefixtures("job")
def test_a_reduction_is_split_when_out_of_attempts(engine: Engine) -> None:
    reduction = [do_shard(engine, shard) for shard in shards(engine)][-1].ready[1]
    assert reduction is not None
    with writing(engine) as connection:
        stale = take_reduction(connection, reduction)
        assert stale is not None
        assert release_task(
            connection, REDUCTION, reduction, "r", "no", max_attempts=3, delay_seconds=0, permanent=True
        )
    assert states(engine) == ["reducing"] * 3
    with reading(engine) as connection:
        parts = list(connection.scalars(select(Reduction.id).where(Reduction.state == "pending")))
    assert len(parts) == 3
    with writing(engine) as connection:
        assert not complete_task(connection, REDUCTION, stale, score_rows(stale)).accepted
        bad = take_reduction(connection, parts[0], "bad")
        assert bad is not None
        release_task(connection, REDUCTION, parts[0], "bad", "no", max_attempts=3, delay_seconds=0, permanent=True)
        for part in parts[1:]:
            good = take_reduction(connection, part, "good")
            assert good is not None
            assert complete_task(connection, REDUCTION, good, score_rows(good)).accepted
    assert sorted(states(engine)) == ["done", "done", "failed"]
    with reading(engine) as connection:
        reason = connection.scalar(select(Evaluation.reason).where(Evaluation.state == "failed"))
    assert reason == "The shards could not be added up (tried once): no"
