"""How the queue stands: every figure against rows that were put there for it."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, insert, select, update

from models.database.session import make_engine, reading, writing
from models.queue.evaluation_end import cancel_evaluations, fail_evaluations
from models.queue.kinds.shards import SHARD
from models.queue_status.evaluation_filters import EvaluationFilter
from models.queue_status.overview import Overview, Queue, TeamWork, Work, read_overview
from models.schema.base import now
from models.schema.learned import LearnedColumn
from models.schema.queue import Evaluation, Shard, Worker
from models.schema.states import ColumnState, QueueClass
from runtime.settings import Settings
from tests.scheduler.jobs import one_block_shards, queue_job, work_off
from tests.tasks import claim_task


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = make_engine(database_url)
    yield engine
    engine.dispose()


@pytest.fixture
def settings(database_url: str) -> Settings:
    return one_block_shards(database_url)


def look(engine: Engine, **options: object) -> Overview:
    with reading(engine) as connection:
        return read_overview(connection, silent_seconds=10, **options)


def add_worker(engine: Engine, name: str, processes: int, beat_ago: float = 0.0) -> None:
    with writing(engine) as connection:
        row = {"id": name, "host": f"host-{name}", "pid": 7, "version": "1.2", "concurrency": processes}
        connection.execute(insert(Worker).values(**row, beat_at=now() - beat_ago, started_at=now() - 100))


def test_nothing_is_there(engine: Engine) -> None:
    seen = look(engine)
    assert seen.queues == tuple(Queue(each, 0, 0, None) for each in QueueClass)
    assert (seen.open, seen.processes, seen.waiting, seen.seconds_left) == (0, 0, 0, None)
    assert (seen.workers, seen.teams, seen.campaigns, seen.failures, seen.astray) == ((), (), (), (), ())
    assert (seen.throughput.shards, seen.throughput.hypotheses) == (0, 0)
    add_worker(engine, "w", 1)
    assert look(engine).seconds_left == 0.0


def test_what_waits_runs_and_was_done(engine: Engine, settings: Settings) -> None:
    add_worker(engine, "alive", 1)
    add_worker(engine, "dead", 16, beat_ago=30)
    queue_job(engine, settings, segments=600, systems=2, team="harbour")
    queue_job(engine, settings, segments=300, systems=3, campaign="night", queue_class=QueueClass.NIGHTLY, seed=2)
    with writing(engine) as connection:
        first, second, third, *others = connection.scalars(select(Shard.id).order_by(Shard.id)).all()
        connection.execute(update(Shard).values(created_at=now() - 50, cost=8.0))
        done = update(Shard).where(Shard.id == first).values(state="done", claimed_at=now() - 5, ended_at=now() - 1)
        connection.execute(done)
        claim_task(connection, SHARD, second, owner="o", worker="alive", lease_seconds=60, max_attempts=3)
        claim_task(connection, SHARD, third, owner="p", worker="gone", lease_seconds=60, max_attempts=3)
        connection.execute(update(Shard).where(Shard.state == "running").values(claimed_at=now() - 100))
        connection.execute(update(Shard).where(Shard.id == others[0]).values(state="enqueued", enqueued_at=now()))
    assert len(others) == 2
    seen = look(engine)
    interactive, campaign, nightly = seen.queues
    assert (interactive.waiting, interactive.in_flight) == (0, 0)
    assert (campaign.waiting, campaign.in_flight, campaign.oldest_seconds) == (0, 2, None)
    assert (nightly.waiting, nightly.in_flight) == (1, 1)
    assert nightly.oldest_seconds == pytest.approx(50, abs=20)
    assert Work("shards", 1, 1, 2) in seen.work
    assert Work("trials", 0, 0, 0) in seen.work
    assert seen.teams == (TeamWork("", 1, 1), TeamWork("harbour", 0, 2))
    alive, dead = seen.workers
    assert (alive.host, alive.pid, alive.version, alive.processes, alive.beating) == ("host-alive", 7, "1.2", 1, True)
    assert [(held.kind, held.id, held.attempt) for held in alive.holds] == [("shards", second, 1)]
    assert alive.holds[0].seconds == pytest.approx(100, abs=20)
    assert (dead.beating, dead.holds) == (False, ())
    assert [held.id for held in seen.astray] == [third]
    assert seen.processes == 1
    # One shard of 256 segments, for two systems.
    assert (seen.throughput.shards, seen.throughput.hypotheses) == (1, 512)
    # A shard that was to take 8 s took 4. Of the four others two should have ended long ago.
    assert seen.seconds_left == pytest.approx(4 + 4, abs=0.1)
    named = [(each.name, each.total, each.open) for each in seen.campaigns]
    assert named == [("trial", 2, 2), ("night: trial", 3, 3)]
    assert [(each.shards, each.shards_done) for each in seen.campaigns] == [(3, 1), (2, 0)]
    with writing(engine) as connection:
        connection.execute(update(Worker).where(Worker.id == "alive").values(concurrency=100))
    # More processes than shards: as long as one of them.
    assert look(engine).seconds_left == pytest.approx(4, abs=0.1)
    with writing(engine) as connection:
        connection.execute(update(Worker).values(beat_at=now() - 30))
    assert look(engine).seconds_left is None


def test_only_the_evaluations_that_were_asked_for(engine: Engine, settings: Settings) -> None:
    first = queue_job(engine, settings, segments=300, systems=3).all_evaluations
    second = queue_job(engine, settings, segments=300, systems=1, campaign="night").all_evaluations
    with writing(engine) as connection:
        fail_evaluations(connection, first[:1], "The disk is full.")
        cancel_evaluations(connection, first[1:2], "Withdrawn.")
    work_off(settings)
    with writing(engine) as connection:
        connection.execute(update(Evaluation).where(Evaluation.id.in_(first)).values(finished_at=now() - 1000))
        fail_evaluations(connection, second, "Too late: it is done.")
    seen = look(engine, selection=EvaluationFilter(campaign="trial"))
    assert {state: amount for state, amount in seen.evaluations.items() if amount} == {
        "done": 1,
        "failed": 1,
        "cancelled": 1,
    }
    assert [(each.campaign, each.shards, each.shards_done) for each in seen.campaigns] == [("trial", 2, 2)]
    (failure,) = seen.failures
    assert (failure.id, failure.reason, failure.called) == (first[0], "The disk is full.", "system0")
    assert failure.ended_seconds == pytest.approx(1000, abs=60)
    assert seen.asked == ()
    asked = look(engine, selection=EvaluationFilter(evaluations=(first[1], second[0]))).asked
    assert [(each.id, each.state, each.reason) for each in asked] == [
        (first[1], "cancelled", "Withdrawn."),
        (second[0], "done", None),
    ]
    # Among all only what is open or has just ended.
    assert [each.campaign for each in look(engine).campaigns] == ["night"]


def test_the_newest_failures_come_first(engine: Engine, settings: Settings) -> None:
    job = queue_job(engine, settings, segments=20, systems=4).all_evaluations
    with writing(engine) as connection:
        for age, evaluation in ((30, job[2]), (10, job[0]), (20, job[1])):
            fail_evaluations(connection, [evaluation], "It broke.")
            failed = update(Evaluation).where(Evaluation.id == evaluation)
            connection.execute(failed.values(finished_at=now() - age))
    assert [each.id for each in look(engine, most_failures=2).failures] == [job[0], job[1]]


def test_failures_of_models_come_after_those_of_evaluations_and_count_with_them(
    engine: Engine, settings: Settings
) -> None:
    job = queue_job(engine, settings, segments=20, systems=4).all_evaluations
    with writing(engine) as connection:
        fail_evaluations(connection, job[:2], "It broke.")
        connection.execute(update(Evaluation).where(Evaluation.id.in_(job[2:])).values(state="done", finished_at=now()))
        for age, evaluation in enumerate(job[2:]):
            column = {"evaluation_id": evaluation, "metric": 0, "state": ColumnState.FAILED, "remaining": 0}
            connection.execute(insert(LearnedColumn).values(**column, reason="No model", finished_at=now() - age))
    for most in range(6):
        found = [each.id for each in look(engine, most_failures=most).failures]
        assert found == [job[1], job[0], job[2], job[3]][:most]


def test_what_no_worker_can_compute_is_open_and_of_another_edition(engine: Engine, settings: Settings) -> None:
    job = queue_job(engine, settings, segments=20, systems=6).all_evaluations
    with writing(engine) as connection:
        for evaluation, (edition, state) in zip(
            job,
            ((7, "queued"), (7, "running"), (7, "done"), (8, "reducing"), (8, "failed"), (9, "queued")),
            strict=True,
        ):
            which = update(Evaluation).where(Evaluation.id == evaluation)
            connection.execute(which.values(edition=edition, state=state))
    expected = {7: 2, 8: 1, 9: 1}
    assert look(engine).unserved == expected
    for name, values in (
        ("silent", {"edition": 7, "beat_at": now() - 30}),
        ("learned", {"edition": 7, "queue": "learned"}),
        ("alive", {"edition": 7}),
    ):
        add_worker(engine, name, 1)
        with writing(engine) as connection:
            connection.execute(update(Worker).where(Worker.id == name).values(**values))
        if name == "alive":
            del expected[7]
        assert look(engine).unserved == expected, name
