"""Pool processes that die at work, and heartbeats."""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import pytest
from billiard.exceptions import TimeLimitExceeded, WorkerLostError
from celery import signals
from sqlalchemy import delete, select, update

from models.database.session import reading, writing
from models.queue.kinds.comparisons import TRIALS
from models.queue.kinds.corpus_statistics import CORPUS_COUNT
from models.queue.kinds.reductions import REDUCTION
from models.queue.kinds.shards import SHARD
from models.schema.queue import CorpusCount, Evaluation, Reduction, Shard, Trials, Worker
from models.schema.states import LeaseState
from scheduler.enqueue.randomization import request_comparison
from scheduler.ingest.campaigns import IngestResult
from tests.faults.cluster import until
from tests.scheduler.jobs import one_block_shards, queue_job, work_off
from tests.tasks import claim_task
from worker.context import WorkerContext
from worker.handlers import do, new_owner
from worker.messaging.messages import Fault
from worker.processes.heartbeat import Heartbeat
from worker.processes.losses import handle_lost_processes
from worker.telemetry import LOST, MESSAGES


@pytest.fixture
def context(database_url: str) -> Iterator[WorkerContext]:
    context = WorkerContext(one_block_shards(database_url, beat_seconds=0.05))
    yield context
    context.close()


@pytest.fixture
def job(context: WorkerContext) -> IngestResult:
    return queue_job(context.engine, context.settings, segments=300, systems=2)


@dataclass(frozen=True)
class Sender:
    """A task, as signals of Celery name it."""

    name: str


def lose(context: WorkerContext, task: str, task_id: str, keys: int | Sequence[int], error: Exception) -> None:
    """What Celery says when a task is lost."""
    args = (keys,) if isinstance(keys, int) else tuple(keys)
    stop = handle_lost_processes(context)
    try:
        signals.task_failure.send(sender=Sender(task), task_id=task_id, exception=error, args=args)
    finally:
        stop()


def first(context: WorkerContext, table: type[Shard] | type[Reduction]) -> tuple[int, str, int, str | None]:
    with reading(context.engine) as connection:
        row = connection.execute(select(table).order_by(table.id).limit(1)).one()
    return row.id, row.state, row.attempts, row.error


@pytest.mark.usefixtures("job")
def test_a_lost_shard_is_released_at_once(context: WorkerContext) -> None:
    key = first(context, Shard)[0]
    with writing(context.engine) as connection:
        claim_task(connection, SHARD, key, owner=new_owner("t1"), worker="w", lease_seconds=60, max_attempts=3)
    lose(context, "score_shard", "t2", key, WorkerLostError("signal 9"))
    lose(context, "score_shard", "t1", key, ValueError("raised in the task"))
    assert first(context, Shard)[1] == "running", "it belongs to another task, and only lost processes count"
    lose(context, "score_shard", "t1", key, WorkerLostError("signal 9"))
    assert first(context, Shard) == (key, "pending", 1, "its process died (signal 9).")


def claimed_ago(context: WorkerContext, seconds: float) -> int:
    """The first shard, claimed by the task t1 so long ago."""
    key = first(context, Shard)[0]
    with writing(context.engine) as connection:
        claim_task(connection, SHARD, key, owner=new_owner("t1"), worker="w", lease_seconds=600, max_attempts=3)
        connection.execute(update(Shard).where(Shard.id == key).values(claimed_at=Shard.claimed_at - seconds))
    return key


def test_what_ran_out_of_time_is_not_tried_again_for_the_same_text(context: WorkerContext) -> None:
    job = queue_job(context.engine, context.settings, segments=300, systems=1)
    lose(context, "score_shard", "t1", claimed_ago(context, 121), TimeLimitExceeded(120))
    _, state, attempts, _ = first(context, Shard)
    assert (state, attempts) == ("failed", 1)
    with reading(context.engine) as connection:
        failed = connection.execute(select(Evaluation).where(Evaluation.id == job.all_evaluations[0])).one()
    assert failed.state == "failed"
    assert failed.reason.startswith(
        "Segments 1 to 256 could not be scored (tried once): it took longer than 120 s. Look for very long segments"
    )


@pytest.mark.usefixtures("job")
def test_texts_that_ran_out_of_time_together_are_tried_alone(context: WorkerContext) -> None:
    lose(context, "score_shard", "t1", claimed_ago(context, 121), TimeLimitExceeded(120))
    with reading(context.engine) as connection:
        rows = connection.execute(select(Shard.state, Shard.attempts).where(Shard.first_block == 0)).all()
    assert sorted(tuple(row) for row in rows) == [("failed", 1), ("pending", 0), ("pending", 0)]


@pytest.mark.usefixtures("job")
@pytest.mark.parametrize(("seconds", "error"), [(20, TimeLimitExceeded(120)), (121, WorkerLostError("signal 9"))])
def test_who_did_not_have_the_time_is_tried_again(context: WorkerContext, seconds: float, error: Exception) -> None:
    """A short shard that a long one gave way to ends with its task; and a process may be killed at any time."""
    lose(context, "score_shard", "t1", claimed_ago(context, seconds), error)
    assert first(context, Shard)[1:3] == ("pending", 1)


@pytest.mark.usefixtures("job")
def test_a_task_lost_before_its_claim_is_sent_again(context: WorkerContext) -> None:
    key = first(context, Shard)[0]
    with writing(context.engine) as connection:
        connection.execute(update(Shard).values(state=LeaseState.ENQUEUED))
    lose(context, "score_shard", "t", key, WorkerLostError("signal 9"))
    with reading(context.engine) as connection:
        assert list(connection.scalars(select(Shard.state).order_by(Shard.id))) == ["pending", "enqueued"]


class Died(BaseException):
    """Nobody catches it."""


def die(*_: object) -> None:
    raise Died


def test_a_shard_task_lost_while_it_reduces_releases_the_reduction(
    context: WorkerContext, job: IngestResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The process dies after its claim of the reduction: nothing of it is heard any more.
    monkeypatch.setattr("worker.runners.reduce_evaluations", die)
    with reading(context.engine) as connection:
        keys = list(connection.scalars(select(Shard.id).order_by(Shard.id)))
    for key in keys:
        with suppress(Died):
            do(context, SHARD, key, "t")
    reduction = first(context, Reduction)
    assert reduction[1:] == ("running", 1, None)
    lose(context, "score_shard", "t", keys[-1], WorkerLostError("signal 9"))
    assert first(context, Reduction) == (reduction[0], "pending", 1, "its process died (signal 9).")
    with writing(context.engine) as connection:
        claimed = claim_task(
            connection, REDUCTION, reduction[0], owner="o", worker="w", lease_seconds=60, max_attempts=3
        )
        assert claimed is not None
        assert list(claimed.evaluations) == job.all_evaluations
        assert set(connection.scalars(select(Evaluation.state))) == {"reducing"}


def test_a_lost_corpus_count_is_released_at_once(context: WorkerContext) -> None:
    queue_job(context.engine, context.settings, segments=300, systems=2, metrics=["nist"])
    with reading(context.engine) as connection:
        keys = list(connection.scalars(select(CorpusCount.id).order_by(CorpusCount.id)))
    with writing(context.engine) as connection:
        claim_task(
            connection, CORPUS_COUNT, keys[0], owner=new_owner("t1"), worker="w", lease_seconds=60, max_attempts=3
        )
        connection.execute(update(CorpusCount).where(CorpusCount.id == keys[1]).values(state=LeaseState.ENQUEUED))
    lose(context, "prepare", "t1", keys[0], WorkerLostError("signal 9"))
    lose(context, "prepare", "t2", keys[1], WorkerLostError("signal 9"))
    with reading(context.engine) as connection:
        rows = connection.execute(
            select(CorpusCount.state, CorpusCount.attempts, CorpusCount.error).order_by(CorpusCount.id)
        ).all()
    assert [tuple(row) for row in rows] == [("pending", 1, "its process died (signal 9)."), ("pending", 0, None)]


def ask_for_trials(context: WorkerContext, job: IngestResult) -> None:
    """Score the two systems, and ask which is better."""
    work_off(context.settings)
    pair = tuple((evaluation,) for evaluation in job.all_evaluations)
    settings = context.settings.model_copy(update={"at_once_seconds": 0.0})
    request_comparison(context.engine, settings, job.protocols[0], [pair], [0], trials=400, seed=1)


def test_lost_trials_are_released_at_once(context: WorkerContext, job: IngestResult) -> None:
    ask_for_trials(context, job)
    with reading(context.engine) as connection:
        keys = list(connection.scalars(select(Trials.id).order_by(Trials.id)))
    with writing(context.engine) as connection:
        claim_task(connection, TRIALS, keys[0], owner=new_owner("t1"), worker="w", lease_seconds=60, max_attempts=3)
        connection.execute(update(Trials).where(Trials.id == keys[1]).values(state=LeaseState.ENQUEUED))
    lose(context, "randomize", "t1", keys[0], WorkerLostError("signal 9"))
    lose(context, "randomize", "t2", keys[1], WorkerLostError("signal 9"))
    with reading(context.engine) as connection:
        rows = connection.execute(select(Trials.state, Trials.attempts, Trials.error).order_by(Trials.id)).all()
    assert [tuple(row) for row in rows] == [("pending", 1, "its process died (signal 9)."), ("pending", 0, None)]


def test_only_texts_are_given_up_for_the_time_they_took(context: WorkerContext, job: IngestResult) -> None:
    """Trials and reductions take what their size says: a busy machine, and not a text, made them late."""
    ask_for_trials(context, job)
    with writing(context.engine) as connection:
        key = connection.scalars(select(Trials.id).order_by(Trials.id)).first()
        claim_task(connection, TRIALS, key, owner=new_owner("t1"), worker="w", lease_seconds=600, max_attempts=3)
        connection.execute(update(Trials).values(claimed_at=Trials.claimed_at - 121))
    lose(context, "randomize", "t1", key, TimeLimitExceeded(120))
    with reading(context.engine) as connection:
        row = connection.execute(select(Trials.state, Trials.attempts).where(Trials.id == key)).one()
    assert tuple(row) == ("pending", 1)


@pytest.mark.usefixtures("job")
def test_lost_processes_are_counted_by_how_they_ended(context: WorkerContext) -> None:
    key = first(context, Shard)[0]
    for error in (TimeLimitExceeded(120), WorkerLostError("signal 9"), TimeLimitExceeded(120), ValueError("no loss")):
        lose(context, "score_shard", "t1", key, error)
    assert [context.counters.total(LOST.name, reason) for reason in ("time", "died")] == [2, 1]


def test_messages_that_are_dropped_are_counted_by_their_fault(context: WorkerContext) -> None:
    """Celery says the same of others, which are counted where they are turned down."""
    stop = handle_lost_processes(context)
    try:
        for error in (Fault("unreadable", "it is odd"), Fault("large", "it is long"), ValueError("reject"), None):
            for _, answer in signals.task_rejected.send(sender=None, message=None, exc=error):
                assert answer is None
    finally:
        stop()
    assert [context.counters.total(MESSAGES.name, reason) for reason in ("unreadable", "large", "wrong")] == [1, 1, 0]


def test_a_worker_beats_while_it_lives(context: WorkerContext) -> None:
    def beat_at() -> float | None:
        with reading(context.engine) as connection:
            return connection.scalar(select(Worker.beat_at))

    heartbeat = Heartbeat(context, 2)
    heartbeat.start()
    began = beat_at()
    assert began is not None
    until(lambda: (beat_at() or 0) > began, "a heartbeat")
    # Somebody took it for dead.
    with writing(context.engine) as connection:
        connection.execute(delete(Worker))
    until(beat_at, "the row to come back")
    with reading(context.engine) as connection:
        assert connection.execute(select(Worker.id, Worker.concurrency)).one() == (context.worker, 2)
    heartbeat.stop()
    time.sleep(0.1)
    assert beat_at() is None
