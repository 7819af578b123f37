"""Messages and metrics of other releases."""

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from sqlalchemy import insert, select, update

from models.database.migrate import REVISION
from models.database.session import reading, writing
from models.queue.kinds.shards import SHARD
from models.schema.base import now
from models.schema.queue import Evaluation, Shard, Worker
from models.schema.states import LeaseState
from steelyard.errors import BadParameter, MetricsError, UnknownMetric
from tests.scheduler.jobs import one_block_shards, queue_job
from worker import runners
from worker.context import WorkerContext
from worker.handlers import do
from worker.messaging.celery_tasks import MESSAGE_HEADER, should_handle
from worker.tasks import MESSAGE_VERSION


@pytest.fixture
def context(database_url: str) -> Iterator[WorkerContext]:
    context = WorkerContext(one_block_shards(database_url))
    queue_job(context.engine, context.settings, segments=200, systems=1)
    yield context
    context.close()


def shard(context: WorkerContext) -> tuple[int, str, int, str | None, bool]:
    with reading(context.engine) as connection:
        later = (Shard.not_before > now()).label("later")
        row = connection.execute(select(Shard.id, Shard.state, Shard.attempts, Shard.error, later)).one()
    return row.id, row.state, row.attempts, row.error, bool(row.later)


def add_worker(
    context: WorkerContext, version: str, revision: str | None = REVISION, edition: int | None = None
) -> None:
    with writing(context.engine) as connection:
        name = f"{version} of {revision}"
        row = {"id": name, "host": "h", "pid": 1, "version": version, "concurrency": 1, "revision": revision}
        row["edition"] = context.edition if edition is None else edition
        connection.execute(insert(Worker).values(**row))


def task(headers: dict[str, object] | None) -> SimpleNamespace:
    return SimpleNamespace(name=SHARD.message, request=SimpleNamespace(headers=headers))


def test_a_metric_that_only_another_release_knows(context: WorkerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(specification: str) -> None:
        raise UnknownMetric(f"There is no metric {specification}.")

    monkeypatch.setattr(runners, "score_texts", lambda claim, measurement, *_: parse(measurement.metrics[0]))
    add_worker(context, context.version)
    add_worker(context, "0.0.9")
    key, *_ = shard(context)
    do(context, SHARD, key, "task")
    assert shard(context) == (key, LeaseState.PENDING, 0, "There is no metric bleu.", True)

    with writing(context.engine) as connection:
        connection.execute(update(Worker).where(Worker.version == "0.0.9").values(beat_at=now() - 1e6))
    do(context, SHARD, key, "task")
    assert shard(context)[1:3] == (LeaseState.FAILED, 1)
    with reading(context.engine) as connection:
        assert "There is no metric bleu." in str(connection.scalar(select(Evaluation.reason)))


def test_a_metric_that_no_release_knows_fails_when_each_has_refused_it(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not handed from one to the other for ever; workers that would never get it are not waited for."""

    def parse(*_: object) -> None:
        raise UnknownMetric('There is no metric "prefix".')

    monkeypatch.setattr(runners, "score_texts", parse)
    other = WorkerContext(context.settings)
    other.version = "0.0.9"
    for each in (context, other):
        add_worker(context, each.version)
    add_worker(context, "2.0", edition=context.edition + 1)
    key, *_ = shard(context)
    for _ in range(2):
        # One release may get it again before the other does.
        do(context, SHARD, key, "task")
        assert shard(context) == (key, LeaseState.PENDING, 0, 'There is no metric "prefix".', True)
    do(other, SHARD, key, "task")
    other.close()
    assert shard(context)[1:3] == (LeaseState.FAILED, 1)
    with reading(context.engine) as connection:
        reason = str(connection.scalar(select(Evaluation.reason)))
    refused = f"version 0.0.9, revision {REVISION}; version {context.version}, revision {REVISION}"
    assert f'There is no metric "prefix". No running worker can do it (tried by: {refused}).' in reason
    assert "Install what it needs" in reason
    assert "`steelyard submission retry`" in reason


def test_messages_of_a_newer_release_are_dropped(context: WorkerContext, caplog: pytest.LogCaptureFixture) -> None:
    assert should_handle(context, task(None), 1)
    assert should_handle(context, task({MESSAGE_HEADER: MESSAGE_VERSION}), 1)
    assert not caplog.text
    assert not should_handle(context, task({MESSAGE_HEADER: MESSAGE_VERSION + 1}), 1)
    assert "dropping a message for score_shard 1" in caplog.text.lower()


def test_a_worker_that_ends_begins_nothing(context: WorkerContext) -> None:
    with writing(context.engine) as connection:
        connection.execute(update(Shard).values(state=LeaseState.ENQUEUED, enqueued_at=now()))
    key, *_ = shard(context)
    context.shutting_down.set_once("it stops")
    assert not should_handle(context, task(None), key)
    assert shard(context)[1:3] == (LeaseState.PENDING, 0)


def test_a_worker_that_ends_returns_all_shards_of_a_message_and_no_others(context: WorkerContext) -> None:
    for number in range(3):
        queue_job(context.engine, context.settings, segments=200, systems=1, campaign=str(number), seed=number + 2)
    with writing(context.engine) as connection:
        connection.execute(update(Shard).values(state=LeaseState.ENQUEUED, enqueued_at=now()))
        first, *others, last = connection.scalars(select(Shard.id).order_by(Shard.id)).all()
    context.shutting_down.set_once("it stops")
    assert not should_handle(context, task(None), *others)
    with reading(context.engine) as connection:
        found = connection.execute(select(Shard.id, Shard.state)).all()
    assert {row.id: row.state for row in found} == {
        first: LeaseState.ENQUEUED, **dict.fromkeys(others, LeaseState.PENDING), last: LeaseState.ENQUEUED,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("version", "revision", "left"),
    [("", REVISION, False), ("", "20990101", True), ("", None, True), ("0.0.9", REVISION, True)],
    ids=["the same", "of another revision", "which does not say", "of another version"],
)
@pytest.mark.parametrize("error", [UnknownMetric, BadParameter])
def test_work_is_left_to_a_worker_whose_version_or_revision_differs(
    context: WorkerContext,
    monkeypatch: pytest.MonkeyPatch,
    version: str,
    revision: str | None,
    left: bool,
    error: type[MetricsError],
) -> None:
    """A metric may be new, and so may be a parameter of one."""

    def refuse(*_: object) -> None:
        raise error("There is no such thing.")

    monkeypatch.setattr(runners, "score_texts", refuse)
    add_worker(context, context.version)
    add_worker(context, version or context.version, revision) if left else None
    key, *_ = shard(context)
    do(context, SHARD, key, "task")
    assert shard(context)[1:3] == ((LeaseState.PENDING, 0) if left else (LeaseState.FAILED, 1))
