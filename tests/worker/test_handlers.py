"""What tasks do, called one by one without a broker."""

from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any

import pytest
from sqlalchemy import Connection, select, update
from sqlalchemy.exc import IntegrityError, OperationalError

import worker.context
import worker.preemption
import worker.runners
from models.database.session import reading, writing
from models.errors import BadBlob
from models.queue.kinds.comparisons import TRIALS, start_comparison
from models.queue.kinds.corpus_statistics import CORPUS_COUNT
from models.queue.kinds.learned_shards import LEARNED_SHARD
from models.queue.kinds.reductions import REDUCTION
from models.queue.kinds.registry import KINDS
from models.queue.kinds.shards import SHARD
from models.queue.task_kind import TaskKind
from models.results.randomizations import Pair, RandomizationPlan
from models.schema.base import now
from models.schema.queue import Comparison, CorpusCount, Evaluation, Leased, Reduction, Shard, Trials
from models.schema.results import Score
from models.schema.states import LeaseState
from scheduler.ingest.campaigns import IngestResult
from steelyard.errors import KernelsNotBuilt, MetricsError, MissingResource, UnknownMetric
from tests.scheduler.jobs import one_block_shards, queue_job
from worker.context import WorkerContext
from worker.errors import ShardsMissing
from worker.handlers import describe, do
from worker.telemetry import DONE, DROPPED, FAILURES, RETRIES


@pytest.fixture
def context(database_url: str) -> Iterator[WorkerContext]:
    context = WorkerContext(one_block_shards(database_url))
    yield context
    context.close()


@pytest.fixture
def job(context: WorkerContext) -> IngestResult:
    return queue_job(context.engine, context.settings, segments=300, systems=2)


def shards(context: WorkerContext) -> list[tuple[int, str]]:
    with reading(context.engine) as connection:
        rows = connection.execute(select(Shard.id, Shard.state).order_by(Shard.id))
        return [(row.id, row.state) for row in rows]


def evaluations(context: WorkerContext) -> list[tuple[str, str | None]]:
    with reading(context.engine) as connection:
        rows = connection.execute(select(Evaluation.state, Evaluation.reason).order_by(Evaluation.id))
        return [(row.state, row.reason) for row in rows]


@pytest.mark.usefixtures("job")
def test_the_task_of_the_last_shard_reduces(context: WorkerContext) -> None:
    for key, _ in reversed(shards(context)):
        do(context, SHARD, key, "task")
        do(context, SHARD, key, "task")
    assert [state for state, _ in evaluations(context)] == ["done", "done"]
    with reading(context.engine) as connection:
        assert len(connection.execute(select(Score.score)).all()) == 2
        reduction = connection.execute(select(Reduction.id, Reduction.state)).one()
    assert reduction.state == "done"
    do(context, REDUCTION, reduction.id, "late")


@pytest.mark.usefixtures("job")
def test_what_can_never_be_scored_fails_at_once(context: WorkerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise MetricsError("The sums would no longer be exact.")

    monkeypatch.setattr(worker.runners, "score_texts", refuse)
    first = shards(context)[0][0]
    do(context, SHARD, first, "task")
    assert shards(context)[0] == (first, "failed")
    split = [key for key, state in shards(context)[2:] if state == "pending"]
    assert len(split) == 2
    for key in split:
        do(context, SHARD, key, "task")
    expected = "Segments 1 to 256 could not be scored (tried once): The sums would no longer be exact."
    assert evaluations(context) == [("failed", expected)] * 2


STEPS: list[tuple[TaskKind[Any, Any], str]] = [
    (CORPUS_COUNT, "counting_work"),
    (CORPUS_COUNT, "merging_work"),
    (SHARD, "score_texts"),
    (REDUCTION, "reduce_evaluations"),
    (TRIALS, "count_trials"),
]
"""What is done for a campaign, one after the other, and what does the work of each."""


def test_work_that_raises_is_tried_again_and_what_comes_too_late_is_dropped(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever kind of work it is; and each attempt is counted for what it came to."""
    job = queue_job(context.engine, context.settings, segments=100, systems=2, metrics=["nist"], replicates=5)
    # One task does not go on to the next.
    context.shutting_down.set_once("it stops")
    for kind, step in STEPS:
        table = kind.table
        if table is Trials:
            a, b = job.all_evaluations
            contest = RandomizationPlan(job.protocols[0], ((a,), (b,)), (Pair(0, 0, 1),), 9, 7)
            with writing(context.engine) as connection:
                start_comparison(connection, contest, [(0, 9)], queue_class=0, team="", edition=context.edition)
        (key,) = pending(context, table)
        does, before = getattr(worker.runners, step), counted(context, kind)

        def fail(*_: object) -> None:
            raise ValueError("no such thing")

        def lose(*given: object, table: type[Leased] = table, key: int = key, does: Any = does) -> object:
            with writing(context.engine) as connection:
                connection.execute(update(table).where(table.id == key).values(owner="somebody else"))
            return does(*given)

        for how, row, *counts in (
            (fail, ("pending", None, "ValueError: no such thing"), 0, 0, 1, 0),
            (lose, ("running", "somebody else", "ValueError: no such thing"), 0, 1, 1, 1),
            (does, ("done", None, None), 1, 2, 1, 1),
        ):
            monkeypatch.setattr(worker.runners, step, how)
            do(context, kind, key, "task")
            assert [now - then for now, then in zip(counted(context, kind), before, strict=True)] == counts
            with writing(context.engine) as connection:
                found = select(table.state, table.owner, table.error).where(table.id == key)
                assert connection.execute(found).one() == row, step
                held = update(table).where(table.id == key, table.state == LeaseState.RUNNING)
                connection.execute(held.values(state=LeaseState.PENDING))
    assert caplog.text.count("was taken over") == len(STEPS)
    assert [state for state, _ in evaluations(context)] == ["done", "done"]
    with reading(context.engine) as connection:
        assert connection.scalar(select(Comparison.state)) == "done"


def counted(context: WorkerContext, kind: TaskKind[Any, Any]) -> list[float]:
    """Attempts that were done, were not the first, failed, came too late."""
    return [context.counters.total(each.name, kind.name) for each in (DONE, RETRIES, FAILURES, DROPPED)]


def test_each_kind_names_what_workers_run() -> None:
    """Or has neither a message nor a function: the scheduler does it. Learned workers need no message."""
    for kind in KINDS:
        assert (kind.message is None) == (kind.run is None or kind is LEARNED_SHARD), kind
        if kind.run is not None:
            claims = "claim" if kind.together is None else "claims"
            assert list(signature(kind.runner).parameters)[:2] == ["context", claims], kind
            assert len(signature(kind.runner).parameters) == 3, kind


def test_writes_are_tried_again_when_the_database_was_away(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker.context, "RETRY_DELAYS", (0.0, 0.0))
    tries = []

    def away(times: int) -> int:
        tries.append(1)
        if len(tries) <= times:
            raise OperationalError("UPDATE", {}, Exception("server closed the connection"))
        return 7

    assert context.write(lambda _: away(2)) == 7
    assert len(tries) == 3
    tries.clear()
    with pytest.raises(OperationalError):
        context.write(lambda _: away(3))

    def wrong(_: object) -> None:
        tries.append(1)
        raise IntegrityError("INSERT", {}, Exception("unique"))

    tries.clear()
    with pytest.raises(IntegrityError):
        context.write(wrong)
    assert len(tries) == 1, "what is wrong stays wrong"


@pytest.mark.parametrize(
    ("error", "reason", "permanent"),
    [
        (MetricsError("It is odd."), "It is odd.", True),
        (UnknownMetric("No such metric."), "No such metric.", True),
        (KernelsNotBuilt("Build them."), "Build them.", False),
        (MissingResource("No vectors."), "No vectors.", False),
        (BadBlob("It is damaged."), "It is damaged.", False),
        (ShardsMissing("A gap."), "A gap.", False),
        (ValueError("no such thing"), "ValueError: no such thing", False),
    ],
)
def test_permanent_errors_are_distinguished_from_transient_ones(error: Exception, reason: str, permanent: bool) -> None:
    assert describe(error) == (reason, permanent)


one_kind = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""Where databases cannot differ."""


def pending(context: WorkerContext, table: type[Leased]) -> list[int]:
    with reading(context.engine) as connection:
        waiting = select(table.id).where(table.state == LeaseState.PENDING).order_by(table.id)
        return list(connection.scalars(waiting))


@one_kind
def test_what_is_said_to_be_done_is_on_the_disk(context: WorkerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that crashes takes back what it was not told to write at once, and nobody would know."""
    write, durably = context.write, list[bool]()

    def note(action: Callable[[Connection], Any], *, durable: bool = False, **more: Any) -> Any:
        durably.append(durable)
        return write(action, durable=durable, **more)

    job = queue_job(context.engine, context.settings, segments=100, systems=2, metrics=["nist"], replicates=5)
    monkeypatch.setattr(context, "write", note)
    claim, submit_output = False, True
    (part,) = pending(context, CorpusCount)
    do(context, CORPUS_COUNT, part, "task")
    assert durably == [claim, submit_output] * 2, "counted and merged"
    (shard,) = pending(context, Shard)
    do(context, SHARD, shard, "task")
    assert durably == [claim, submit_output] * 4, "scored and reduced"
    a, b = job.all_evaluations
    contest = RandomizationPlan(job.protocols[0], ((a,), (b,)), (Pair(0, 0, 1),), 9, 7)
    with writing(context.engine) as connection:
        start_comparison(connection, contest, [(0, 9)], queue_class=0, team="", edition=context.edition)
    do(context, TRIALS, 1, "task")
    assert durably == [claim, submit_output] * 5
    with reading(context.engine) as connection:
        assert connection.scalar(select(Comparison.state)) == "done"


@one_kind
@pytest.mark.usefixtures("job")
@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError("No route to s3://key:secret@store/x."), "OSError: No route to s3://key:***@store/x."),
        (MemoryError("Unable to allocate 7.0 GiB."), "may use (unable to allocate 7.0 GiB). Set STEELYARD_TASK_BYTES"),
        (BadBlob("It is damaged."), "It is damaged."),
    ],
)
def test_what_people_read_about_a_failure(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    """What they can do about it, and no password of a store."""

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(worker.runners, "score_texts", fail)
    do(context, SHARD, shards(context)[0][0], "task")
    with reading(context.engine) as connection:
        said = connection.scalar(select(Shard.error).order_by(Shard.id))
    assert said is not None
    assert told in said
    assert "secret" not in said


@one_kind
@pytest.mark.usefixtures("job")
def test_a_database_outage_is_no_fault_of_the_task(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its lease runs out, and somebody else has it then: nothing is said of it in its row."""

    def fail(*_: object) -> None:
        raise OperationalError("SELECT", {}, Exception("server closed the connection"))

    monkeypatch.setattr(worker.runners, "score_texts", fail)
    first = shards(context)[0][0]
    do(context, SHARD, first, "task")
    with reading(context.engine) as connection:
        row = connection.execute(select(Shard.state, Shard.attempts, Shard.error).where(Shard.id == first)).one()
    assert row == ("running", 1, None)
    assert counted(context, SHARD) == [0, 0, 0, 0]
    assert f"Shard {first} is abandoned until its lease expires." in caplog.text


@one_kind
def test_who_is_about_to_end_begins_nothing_further(context: WorkerContext) -> None:
    """Neither to merge what was counted nor to reduce what was scored: others do."""
    queue_job(context.engine, context.settings, segments=100, systems=1, metrics=["nist"])
    context.shutting_down.set_once("it stops")
    (part,) = pending(context, CorpusCount)
    do(context, CORPUS_COUNT, part, "task")
    (merge,) = pending(context, CorpusCount)
    do(context, CORPUS_COUNT, merge, "task")
    (shard,) = pending(context, Shard)
    do(context, SHARD, shard, "task")
    assert len(pending(context, Reduction)) == 1
    assert [state for state, _ in evaluations(context)] == ["reducing"]


@one_kind
@pytest.mark.usefixtures("job")
def test_a_claim_says_who_holds_the_work_and_for_how_long(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    score, held = worker.runners.score_texts, list[Any]()

    def look(*arguments: object) -> object:
        with reading(context.engine) as connection:
            running = select(Shard, now().label("now")).where(Shard.state == LeaseState.RUNNING)
            held.append(connection.execute(running).one())
        return score(*arguments)

    monkeypatch.setattr(worker.runners, "score_texts", look)
    first = shards(context)[0][0]
    do(context, SHARD, first, "task-7")
    (row,) = held
    assert (row.id, row.worker, row.attempts) == (first, context.worker, 1)
    assert row.owner.startswith("task-7:")
    assert row.lease_until - row.now == pytest.approx(context.settings.lease_seconds, abs=60)
    # Work of another edition is left alone.
    second = shards(context)[1][0]
    context.edition += 1
    do(context, SHARD, second, "task-8")
    assert shards(context)[1] == (second, "pending")
    assert len(held) == 1


@one_kind
@pytest.mark.usefixtures("job")
def test_a_task_without_attempts_left_is_not_retried(context: WorkerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for as long as the settings say, and longer each time."""

    def fail(*_: object) -> None:
        raise ValueError("no such thing")

    monkeypatch.setattr(worker.runners, "score_texts", fail)
    context.settings = context.settings.model_copy(update={"max_attempts": 2, "retry_seconds": 1000.0})
    first = shards(context)[0][0]
    do(context, SHARD, first, "task")
    with reading(context.engine) as connection:
        delay = connection.scalar(select(Shard.not_before - now()).where(Shard.id == first))
    assert delay == pytest.approx(1000.0, abs=60)
    assert context.counters.total(RETRIES.name, SHARD.name) == 0
    do(context, SHARD, first, "task")
    assert shards(context)[0] == (first, "failed")
    assert [context.counters.total(each.name, SHARD.name) for each in (RETRIES, FAILURES)] == [1, 2]
