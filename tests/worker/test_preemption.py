"""Shards give way to more urgent work between metrics, now and then and for a while."""

import multiprocessing
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import insert, select, update
from sqlalchemy.exc import OperationalError

import worker.context
import worker.preemption
import worker.runners
from models.database.session import make_engine, reading, writing
from models.queue.kinds.shards import SHARD
from models.queue.task_kind import TaskKind
from models.schema.queue import CorpusCount, Evaluation, Leased, Shard
from models.schema.states import LeaseState, QueueClass
from steelyard.metrics.metric import EDITION
from tests.scheduler.jobs import one_block_shards, queue_job
from tests.worker.test_handlers import shards
from worker.context import WorkerContext
from worker.handlers import do
from worker.preemption import EVERY_SECONDS, Preemption, urgent_task
from worker.shared_moment import SharedMoment


@pytest.fixture
def context(database_url: str) -> Iterator[WorkerContext]:
    context = WorkerContext(one_block_shards(database_url))
    yield context
    context.close()


def test_a_campaigns_shard_is_preempted_between_metrics(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker.preemption, "EVERY_SECONDS", 0.0)
    metrics = ["bleu", "wer", "ter"]
    patient = queue_job(context.engine, context.settings, segments=100, systems=1, metrics=metrics, campaign="patient")
    urgent = queue_job(
        context.engine,
        context.settings,
        segments=100,
        systems=1,
        metrics=["nist"],
        seed=2,
        campaign="urgent",
        queue_class=QueueClass.INTERACTIVE,
    )
    with writing(context.engine) as connection:
        for table in (CorpusCount, Shard):
            connection.execute(update(table).values(state=LeaseState.ENQUEUED))
    (first, _), (second, _) = shards(context)
    do(context, SHARD, first, "task")
    assert [state for _, state in shards(context)] == ["done", "done"]
    with reading(context.engine) as connection:
        ended = connection.execute(select(Evaluation.id, Evaluation.state, Evaluation.finished_at)).all()
        claims = {row.id: row for row in connection.execute(select(Shard.id, Shard.claimed_at, Shard.ended_at))}
    finished = {row.id: row.finished_at for row in ended}
    assert [row.state for row in ended] == ["done", "done"]
    assert finished[urgent.evaluations[0][0]] <= finished[patient.evaluations[0][0]]
    assert claims[first].claimed_at <= claims[second].claimed_at <= claims[second].ended_at <= claims[first].ended_at


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("queue_class", QueueClass)
def test_interactive_work_is_as_urgent_itself_and_does_not_look(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch, queue_class: QueueClass
) -> None:
    monkeypatch.setattr(worker.preemption, "EVERY_SECONDS", 0.0)
    looks: list[int] = []
    monkeypatch.setattr(worker.preemption, "urgent_task", lambda *_: looks.append(1))
    queue_job(context.engine, context.settings, segments=100, systems=1, metrics=["bleu", "wer"])
    with writing(context.engine) as connection:
        connection.execute(update(Shard).values(state=LeaseState.ENQUEUED, queue_class=queue_class))
    ((shard, _),) = shards(context)
    do(context, SHARD, shard, "task")
    assert bool(looks) == (queue_class != QueueClass.INTERACTIVE)


def test_shards_give_way_to_nothing_else(context: WorkerContext) -> None:
    queue_job(context.engine, context.settings, segments=100, systems=1, metrics=["bleu", "wer"])
    with writing(context.engine) as connection:
        shard = connection.execute(select(Shard)).one()
        copy = {name: shard._mapping[name] for name in ("protocol_id", "first_block", "last_block", "cost", "edition")}
        other = connection.execute(
            insert(Shard)
            .values(**copy, state=LeaseState.ENQUEUED, queue_class=QueueClass.INTERACTIVE)
            .returning(Shard.id)
        ).scalar_one()
        assert urgent_task(connection, EDITION) == (SHARD, other)
        for values in ({"queue_class": 1}, {"queue_class": 0, "attempts": 1}, {"attempts": 0, "state": "pending"}):
            connection.execute(update(Shard).where(Shard.id == other).values(**values))
            assert urgent_task(connection, EDITION) is None


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_of_urgent_work_the_earliest_due_is_done_first(context: WorkerContext) -> None:
    """Counts before the shards that wait for them; what is of another edition is none of ours."""
    queue_job(context.engine, context.settings, segments=100, systems=1, metrics=["nist"])
    with writing(context.engine) as connection:
        known: dict[type[Leased], dict[str, object]] = {
            CorpusCount: {"corpus_statistics_id": 1, "first_block": 0, "last_block": 1},
            Shard: {"protocol_id": 1, "first_block": 0, "last_block": 1, "cost": 1.0},
        }
        sent = {"state": LeaseState.ENQUEUED, "queue_class": QueueClass.INTERACTIVE, "edition": EDITION}

        def add(table: type[Leased], due_at: float | None, **others: object) -> tuple[type[Leased], int]:
            row = insert(table).values(**{**known[table], **sent, "due_at": due_at, **others}).returning(table.id)
            return table, connection.execute(row).scalar_one()

        first, second = add(Shard, None), add(Shard, None)
        dated = [add(*each) for each in ((Shard, 3.0), (CorpusCount, 5.0), (Shard, 5.0), (Shard, 7.0))]
        expected = [*dated, add(CorpusCount, None), first, second]
        add(Shard, 1.0, edition=EDITION + 1)
        add(Shard, 1.0, state=LeaseState.RUNNING)
        found = []
        while row := urgent_task(connection, EDITION):
            found.append(row)
            table, key = row[0].table, row[1]
            connection.execute(update(table).where(table.id == key).values(state=LeaseState.DONE))
    assert [(kind.table, key) for kind, key in found] == expected


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_shard_is_preempted_at_intervals_and_for_a_bounded_time(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock, done, waits = [100.0], list[int](), True

    def do_another(_kind: TaskKind[Any, Any], key: int) -> None:
        done.append(key)
        clock[0] += 4.0

    def look(*_: object) -> tuple[TaskKind[Any, Any], int] | None:
        if waits is None:
            raise OperationalError("SELECT", {}, Exception("away"))
        return (SHARD, len(done)) if waits else None

    monkeypatch.setattr(worker.preemption, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(worker.preemption, "urgent_task", look)
    give_way = Preemption(context, QueueClass.CAMPAIGN, do_another, seconds=10.0)
    give_way()
    assert done == [], "it has just begun"
    clock[0] += EVERY_SECONDS
    waits = None
    give_way()
    assert "Waiting interactive work cannot be read" in caplog.text
    waits = False
    give_way()
    waits = True
    give_way()
    assert done == [], "it has just looked"
    clock[0] += EVERY_SECONDS
    give_way()
    assert done == [0, 1, 2]
    clock[0] += EVERY_SECONDS
    give_way()
    assert done == [0, 1, 2], "it has waited for as long as it may"
    another = Preemption(context, QueueClass.CAMPAIGN, do_another, seconds=10.0)
    clock[0] += EVERY_SECONDS
    context.shutting_down.set_once("it stops")
    another()
    assert done == [0, 1, 2]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_processes_of_a_worker_do_not_look_for_what_another_has_not_found_just_now(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But where it has found something, there may be more: then the others look at once."""
    clock, looks, waits = [100.0], list[float](), list[int]()

    def look(*_: object) -> tuple[TaskKind[Any, Any], int] | None:
        looks.append(clock[0])
        return (SHARD, waits.pop()) if waits else None

    def do_another(*_: object) -> None:
        clock[0] += 0.05
        other()

    monkeypatch.setattr(worker.preemption, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(worker.preemption, "urgent_task", look)
    one, other = (Preemption(context, QueueClass.CAMPAIGN, do_another, seconds=10.0) for _ in range(2))
    clock[0] = 101.0
    one()
    other()
    assert looks == [101.0]
    clock[0] = 101.0 + EVERY_SECONDS
    other()
    one()
    assert looks == [101.0, clock[0]]
    clock[0], waits[:] = 102.0, [1]
    one()
    assert looks[2:] == [102.0, 102.05], "the second of the other, and the first's own look is spared by it"


def test_processes_that_are_forked_share_a_moment() -> None:
    moment = SharedMoment()
    forked = multiprocessing.get_context("fork").Process(target=setattr, args=(moment, "seconds", 7.5))
    assert moment.seconds == 0.0
    forked.start()
    forked.join()
    assert moment.seconds == 7.5


def test_one_plan_serves_all_looks_by_the_index_of_what_is_in_flight(postgres_url: str) -> None:
    """What is the same each time is no parameter: PostgreSQL would plan each look, which takes three times as long."""
    engine = make_engine(postgres_url)
    look = worker.preemption._urgent().compile(engine)
    sent = look.construct_expanded_state({"edition": EDITION})
    assert sorted(sent.parameters) == ["edition"]
    names: list[str] = []

    def numbered(found: re.Match[str]) -> str:
        names.append(found[1])
        return f"${len(names)}"

    statement = re.sub(r"%\((\w+)\)s", numbered, sent.statement)
    asked = f"look ({', '.join(str(int(sent.parameters[name])) for name in names)})"
    with engine.connect() as connection:
        connection.exec_driver_sql("SET enable_seqscan = off")
        connection.exec_driver_sql(f"PREPARE look AS {statement}")
        for _ in range(10):
            connection.exec_driver_sql(f"EXECUTE {asked}")
        planned = "SELECT custom_plans, generic_plans FROM pg_prepared_statements WHERE name = 'look'"
        assert connection.exec_driver_sql(planned).one() == (5, 5), "PostgreSQL tries five times before it keeps a plan"
        plan = "\n".join(connection.exec_driver_sql(f"EXPLAIN EXECUTE {asked}").scalars())
    engine.dispose()
    assert "ix_shard_in_flight" in plan
    assert "ix_corpus_count_in_flight" in plan
