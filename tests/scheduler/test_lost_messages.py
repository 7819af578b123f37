"""Seeing that the broker has lost its messages."""

from collections.abc import Iterable

import pytest
from sqlalchemy import Engine, insert, select, update

from models.database.session import make_engine, reading, writing
from models.schema.base import now
from models.schema.queue import Shard, Worker
from models.schema.states import LeaseState, QueueClass
from runtime.settings import Settings
from scheduler.dispatch import dispatch
from scheduler.lost_messages import empty_queues, recover_lost_messages
from tests.scheduler.jobs import one_block_shards, queue_job, queue_named
from tests.scheduler.test_dispatch import App
from tests.servers import free_port
from worker.app import Broker
from worker.messaging.celery_tasks import WAKE


def enqueue(engine: Engine, url: str, broker: str, seconds: float) -> Settings:
    """Three shards that were sent so long ago, and a worker with two processes."""
    settings = one_block_shards(url, broker_url=broker)
    queue_job(engine, settings, segments=600)
    with writing(engine) as connection:
        connection.execute(insert(Worker).values(id="w", host="h", pid=1, version="1", concurrency=2))
        connection.execute(update(Shard).values(state=LeaseState.ENQUEUED, enqueued_at=now() - seconds))
    return settings


def states(engine: Engine) -> list[str]:
    with reading(engine) as connection:
        return list(connection.scalars(select(Shard.state).order_by(Shard.id)))


def test_hints_of_an_empty_queue_are_sent_again(
    sqlite_url: str, redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    engine = make_engine(sqlite_url)
    settings = enqueue(engine, sqlite_url, redis_url, 2.0)
    broker = Broker(settings)
    # One that is still there says that its queue was not lost; one of another queue says nothing.
    broker._app.tasks[WAKE].apply_async(queue=queue_named("campaign"))
    assert recover_lost_messages(engine, broker, settings) == 0
    with broker._app.connection_for_write() as connection:
        connection.default_channel.queue_purge(queue_named("campaign"))
    broker._app.tasks[WAKE].apply_async(queue=queue_named("nightly"))
    assert empty_queues(broker, QueueClass) == [QueueClass.INTERACTIVE, QueueClass.CAMPAIGN]
    assert recover_lost_messages(engine, broker, settings) == 3
    assert states(engine) == ["pending"] * 3
    assert "has lost 3 messages" in caplog.text
    assert recover_lost_messages(engine, broker, settings) == 0


def test_hints_that_were_just_sent_may_be_with_a_worker(sqlite_url: str, redis_url: str) -> None:
    engine = make_engine(sqlite_url)
    settings = enqueue(engine, sqlite_url, redis_url, 0.0).model_copy(update={"empty_seconds": 60.0})
    assert recover_lost_messages(engine, Broker(settings), settings) == 0
    assert states(engine) == ["enqueued"] * 3


def test_a_worker_that_takes_messages_ahead_may_hold_one_for_each_process(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    settings = enqueue(engine, sqlite_url, "memory://localhost/", 2.0)
    app = App(prefetches=True)
    with writing(engine) as connection:
        connection.execute(update(Worker).values(concurrency=3))
    assert recover_lost_messages(engine, app, settings) == 0
    with writing(engine) as connection:
        connection.execute(update(Worker).values(concurrency=2))
    assert recover_lost_messages(engine, app, settings) == 3


class Broken(App):
    """Has lost its messages, except those of some classes."""

    def __init__(self, *kept: QueueClass) -> None:
        super().__init__()
        self.kept = kept

    def count(self, classes: Iterable[QueueClass]) -> dict[QueueClass, int]:
        return {each: int(each in self.kept) for each in classes}


def test_only_what_was_lost_is_sent_again(sqlite_url: str) -> None:
    """Other editions have queues of their own, which may hold their messages; and other classes."""
    engine = make_engine(sqlite_url)
    settings = enqueue(engine, sqlite_url, "memory://localhost/", 2.0)
    with writing(engine) as connection:
        first, second, _ = connection.scalars(select(Shard.id).order_by(Shard.id))
        connection.execute(update(Shard).where(Shard.id == first).values(edition=Shard.edition + 1))
        connection.execute(update(Shard).where(Shard.id == second).values(queue_class=QueueClass.INTERACTIVE))
    assert recover_lost_messages(engine, Broken(*QueueClass), settings) == 0
    assert recover_lost_messages(engine, Broken(QueueClass.INTERACTIVE), settings) == 1
    assert states(engine) == ["enqueued", "enqueued", "pending"]
    assert recover_lost_messages(engine, Broken(), settings) == 1
    assert states(engine) == ["enqueued", "pending", "pending"]


def test_a_broker_that_is_away_says_nothing(sqlite_url: str, caplog: pytest.LogCaptureFixture) -> None:
    engine = make_engine(sqlite_url)
    settings = enqueue(engine, sqlite_url, f"redis://127.0.0.1:{free_port()}/0", 2.0)
    assert recover_lost_messages(engine, Broker(settings), settings) == 0
    assert states(engine) == ["enqueued"] * 3
    assert "cannot be asked" in caplog.text


def test_a_connection_that_broke_in_the_middle_is_replaced(
    sqlite_url: str, redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    engine = make_engine(sqlite_url)
    settings = enqueue(engine, sqlite_url, redis_url, 0.0)
    broker = Broker(settings)
    broker._app.tasks[WAKE].apply_async(queue=queue_named("campaign"))

    def fail(*_: object, **__: object) -> None:
        raise AttributeError("'NoneType' object has no attribute 'client'")

    with broker._app.amqp.producer_pool.acquire() as producer:
        producer.channel.basic_publish = fail
    with writing(engine) as connection:
        connection.execute(update(Shard).values(state=LeaseState.PENDING))
    assert dispatch(engine, broker, settings) == 0
    assert states(engine) == ["pending"] * 3
    assert "has no attribute 'client'" in caplog.text
    with writing(engine) as connection:
        connection.execute(update(Shard).values(not_before=0.0))
    assert dispatch(engine, broker, settings) == 3
    assert states(engine) == ["enqueued"] * 3
