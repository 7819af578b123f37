"""Shards of the same evaluations that several processes claim and complete at the same time, on PostgreSQL."""

import threading
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import Connection, Engine, delete, event, func, select, update

from models.database.session import make_engine, reading, writing
from models.queue.evaluation_end import cancel_evaluations
from models.queue.kinds.shards import SHARD, ClaimedShard, ScoredShard
from models.queue.lease import held_by
from models.queue.task_kind import Completion, complete_several
from models.schema.queue import Evaluation, Shard, ShardEvaluation
from models.schema.results import Statistics
from models.schema.states import EvaluationState, LeaseState
from scheduler.enqueue.evaluations import enqueue_evaluations
from scheduler.ingest.campaigns import IngestResult
from tests.faults.cluster import until
from tests.models.queue.test_shards import claim, results, shards, states
from tests.scheduler.jobs import one_block_shards, queue_job
from tests.tasks import claim_tasks, complete_shard

WAITING = """
SELECT query FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()
"""


@pytest.fixture
def engine(postgres_url: str) -> Iterator[Engine]:
    engine = make_engine(postgres_url)
    yield engine
    engine.dispose()


@pytest.fixture
def job(engine: Engine, postgres_url: str) -> IngestResult:
    """Three evaluations that share three shards."""
    return queue_job(engine, one_block_shards(postgres_url), segments=600)


def claimed(engine: Engine, shard: int) -> ClaimedShard:
    with writing(engine) as connection:
        found = claim(connection, shard, "a")
    assert found is not None
    return found


def complete(engine: Engine, mine: ClaimedShard) -> Completion:
    with writing(engine) as connection:
        return complete_shard(connection, mine, results(mine))


def waiting(engine: Engine) -> str | None:
    """What somebody waits with for a lock."""
    with reading(engine) as connection:
        found: str | None = connection.exec_driver_sql(WAITING).scalar()
        return found


def beside(engine: Engine, hold: Callable[[Connection], object], then: Callable[[], object]) -> str:
    """Do something in a transaction, begin with the next thing meanwhile; the statement that waits for the first."""
    thread = threading.Thread(target=then)
    with writing(engine) as connection:
        hold(connection)
        thread.start()
        query = until(lambda: waiting(engine), "the second to wait")
    thread.join(60)
    assert not thread.is_alive()
    return query


def evaluations(engine: Engine) -> list[tuple[EvaluationState, int, bool]]:
    """State, counter, and whether they have begun."""
    with reading(engine) as connection:
        found = select(Evaluation.state, Evaluation.remaining, Evaluation.started_at.is_not(None))
        return [(row[0], row[1], row[2]) for row in connection.execute(found.order_by(Evaluation.id))]


@pytest.mark.usefixtures("job")
def test_claims_do_not_wait_for_each_other(engine: Engine) -> None:
    first, second, _ = shards(engine)
    with writing(engine) as one:
        assert claim(one, first, "a") is not None
        # Both find the evaluations queued.
        with writing(engine, lock_seconds=1) as other:
            assert claim(other, second, "b") is not None
    assert evaluations(engine) == [("running", 3, True)] * 3


@pytest.mark.usefixtures("job")
def test_an_evaluation_whose_first_claim_was_undone_begins_with_a_completion(engine: Engine) -> None:
    first, second, _ = shards(engine)
    with writing(engine) as one:
        assert claim(one, first, "a") is not None
        with writing(engine, lock_seconds=1) as other:
            mine = claim(other, second, "b")
        one.rollback()
    assert evaluations(engine) == [("queued", 3, False)] * 3
    assert mine is not None
    assert complete(engine, mine).accepted
    assert evaluations(engine) == [("running", 2, True)] * 3
    with reading(engine) as connection:
        before = connection.scalars(select(Evaluation.started_at)).all()
    complete(engine, claimed(engine, first))
    with reading(engine) as connection:
        assert connection.scalars(select(Evaluation.started_at)).all() == before, "they begin once"


@pytest.mark.usefixtures("job")
def test_results_are_stored_while_another_shard_is_counted(engine: Engine) -> None:
    one, other = (claimed(engine, each) for each in shards(engine)[:2])
    query = beside(
        engine, lambda connection: complete_shard(connection, one, results(one)), lambda: complete(engine, other)
    )
    assert query.startswith("UPDATE evaluation SET"), "only the counter is waited for, and it comes last"
    assert evaluations(engine) == [("running", 1, True)] * 3
    with reading(engine) as connection:
        assert connection.scalar(select(func.count()).select_from(Statistics)) == 6


def test_what_is_being_counted_cannot_be_cancelled(engine: Engine, job: IngestResult) -> None:
    one, other = (claimed(engine, each) for each in shards(engine)[:2])

    def cancel() -> None:
        with writing(engine) as connection:
            assert cancel_evaluations(connection, job.all_evaluations) == job.all_evaluations

    query = beside(engine, lambda connection: complete_shard(connection, one, results(one)), cancel)
    assert query.endswith("FOR UPDATE")
    assert states(engine) == ["cancelled"] * 3
    assert complete(engine, other) == Completion(accepted=True), "although nobody waits for its results"
    assert evaluations(engine) == [("cancelled", 2, True)] * 3
    with reading(engine) as connection:
        assert connection.scalar(select(func.count()).select_from(Statistics)) == 3


def test_an_evaluation_is_queued_anew_just_before_a_shard_is_counted(
    engine: Engine, job: IngestResult, postgres_url: str
) -> None:
    first, *_ = shards(engine)
    late = claimed(engine, first)

    def queue_anew(connection: Connection) -> None:
        cancel_evaluations(connection, job.all_evaluations)
        settings = one_block_shards(postgres_url)
        assert enqueue_evaluations(connection, settings, job.protocols[0], job.submissions) == job.all_evaluations

    found: list[Completion] = []
    query = beside(engine, queue_anew, lambda: found.append(complete(engine, late)))
    assert query.endswith("FOR KEY SHARE"), "before it stores anything"
    assert found == [Completion(accepted=True)]
    assert evaluations(engine) == [("queued", 3, False)] * 3
    with reading(engine) as connection:
        assert connection.scalar(select(func.count()).select_from(Statistics)) == 0
        counted = select(func.count()).select_from(Shard).where(Shard.state == LeaseState.PENDING)
        assert connection.scalar(counted) == 3


def test_one_of_several_is_queued_anew_while_its_shard_runs(
    engine: Engine, job: IngestResult, postgres_url: str
) -> None:
    """The shard counts for the others alone, and a reset one has its own."""
    first, *_ = shards(engine)
    late = claimed(engine, first)
    again = job.all_evaluations[1]

    def queue_anew(connection: Connection) -> None:
        cancel_evaluations(connection, [again])
        enqueue_evaluations(connection, one_block_shards(postgres_url), job.protocols[0], [job.submissions[1]])

    beside(engine, queue_anew, lambda: complete(engine, late))
    assert evaluations(engine) == [("running", 2, True), ("queued", 3, False), ("running", 2, True)]
    with reading(engine) as connection:
        stored = connection.scalars(select(Statistics.evaluation_id).order_by(Statistics.evaluation_id)).all()
    assert stored == [each for each in job.all_evaluations if each != again]


@pytest.mark.usefixtures("job")
def test_counters_of_several_differ(engine: Engine) -> None:
    """Shards of a message of which one works for fewer evaluations than the other."""
    first, second, _ = shards(engine)
    with writing(engine) as connection:
        one, three = connection.scalars(select(Evaluation.id).order_by(Evaluation.id)).all()[::2]
        links = ShardEvaluation.shard_id == second, ShardEvaluation.evaluation_id.in_([one, three])
        connection.execute(delete(ShardEvaluation).where(*links))
        connection.execute(update(Evaluation).where(Evaluation.id.in_([one, three])).values(remaining=2))
        both = claim_tasks(connection, SHARD, [first, second], owner="a", worker="w", lease_seconds=60, max_attempts=3)
    with writing(engine) as connection:
        done = complete_several(connection, SHARD, [(each, ScoredShard(results(each))) for each in both])
    assert done.accepted == {first, second}
    assert evaluations(engine) == [("running", 1, True)] * 3


@pytest.mark.usefixtures("job")
def test_the_rows_of_an_owner_are_found_by_their_ids(engine: Engine) -> None:
    """Not by all that is in flight, of which PostgreSQL expects nothing where nothing was when it last looked."""
    with writing(engine) as connection:
        connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        found = select(Shard.attempts).where(held_by(Shard, shards(engine), "a"))
        plan = connection.exec_driver_sql(
            f"EXPLAIN {found.compile(connection, compile_kwargs={'literal_binds': True})}"
        ).scalars()
        assert "pk_shard" in "".join(plan)


@pytest.mark.usefixtures("job")
def test_what_is_being_reduced_is_not_counted_any_more(engine: Engine) -> None:
    """As where a counter was edited: the reduction has begun with another shard, and goes on."""
    one, other = (claimed(engine, each) for each in shards(engine)[:2])
    with writing(engine) as connection:
        connection.execute(update(Evaluation).values(remaining=1))
    query = beside(
        engine, lambda connection: complete_shard(connection, one, results(one)), lambda: complete(engine, other)
    )
    assert query.startswith("UPDATE evaluation SET")
    assert evaluations(engine) == [("reducing", 0, True)] * 3


def test_an_evaluation_that_was_cancelled_just_before_a_claim_marks_it_stays_so(
    engine: Engine, job: IngestResult
) -> None:
    """The claim reads that it is queued, and waits for nobody who changes that."""
    first, *_ = shards(engine)
    ended = job.all_evaluations[1]
    cancelled: list[int] = []

    def cancel(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("UPDATE evaluation ") and not cancelled:
            cancelled.append(ended)
            with writing(other) as connection:
                assert cancel_evaluations(connection, [ended]) == [ended]

    other = make_engine(engine.url.render_as_string(hide_password=False))
    event.listen(engine, "before_cursor_execute", cancel)
    try:
        late = claimed(engine, first)
    finally:
        event.remove(engine, "before_cursor_execute", cancel)
        other.dispose()
    assert cancelled == [ended]
    assert evaluations(engine) == [("running", 3, True), ("cancelled", 3, False), ("running", 3, True)]
    assert complete(engine, late) == Completion(accepted=True)
    assert evaluations(engine) == [("running", 2, True), ("cancelled", 3, False), ("running", 2, True)]
    with reading(engine) as connection:
        stored = connection.scalars(select(Statistics.evaluation_id).order_by(Statistics.evaluation_id)).all()
    assert stored == [each for each in job.all_evaluations if each != ended]


@pytest.mark.parametrize("systems", [2, 3])
def test_counters_are_locked_by_their_ids_wherever_their_rows_lie(
    engine: Engine, postgres_url: str, systems: int
) -> None:
    """Otherwise two processes that count shards of the same evaluations would wait for each other."""
    job = queue_job(engine, one_block_shards(postgres_url), segments=600, systems=systems)
    mine = claimed(engine, shards(engine)[0])
    least, *others = job.all_evaluations
    with writing(engine) as connection:
        # Its row now lies behind those of the others.
        connection.execute(update(Evaluation).where(Evaluation.id == least).values(team="a team"))

    def count() -> None:
        with writing(engine) as connection:
            connection.exec_driver_sql("SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off")
            complete_shard(connection, mine, results(mine))

    counting = threading.Thread(target=count)
    with writing(engine) as connection:
        connection.execute(select(Evaluation.id).where(Evaluation.id == least).with_for_update(key_share=True))
        counting.start()
        until(lambda: waiting(engine), "it to wait for the first counter")
        free = select(Evaluation.id).where(Evaluation.id.in_(others)).order_by(Evaluation.id)
        assert connection.scalars(free.with_for_update(key_share=True, skip_locked=True)).all() == others
    counting.join(60)
    assert not counting.is_alive()
    assert evaluations(engine) == [("running", 2, True)] * systems
