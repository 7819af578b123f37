"""What a worker that is told to stop does with its messages and its tasks."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from celery import signals
from celery.worker import state
from sqlalchemy import select, update
from sqlalchemy.exc import OperationalError

from models.database.session import reading, writing
from models.queue.kinds.shards import SHARD
from models.schema.queue import Shard, Worker
from models.schema.states import LeaseState
from tests.faults.cluster import until
from tests.scheduler.jobs import one_block_shards, queue_job
from tests.tasks import claim_task
from worker.context import WorkerContext
from worker.processes import shutdown
from worker.processes.heartbeat import Heartbeat
from worker.processes.shutdown import Stopping


@dataclass
class Stopped:
    """A worker that is about to stop, and what became of it."""

    context: WorkerContext
    stopping: Stopping
    killed: list[tuple[int, int]]
    exits: list[int]

    def receive(self, task: str, *arguments: Any) -> None:
        """Let Celery tell of a message."""
        request = SimpleNamespace(name=task, message=SimpleNamespace(payload=(arguments, {}, {})))
        signals.task_received.send(sender=None, request=request)

    def told(self, number: int) -> None:
        """Let the operating system tell."""
        self.stopping._on_signal(number, None)


@pytest.fixture
def worker(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stopped]:
    context = WorkerContext(one_block_shards(sqlite_url, beat_seconds=0.05, stop_seconds=30.0))
    queue_job(context.engine, context.settings, segments=900, systems=1)
    monkeypatch.setattr(state, "should_stop", None)
    heartbeat = Heartbeat(context, 3)
    heartbeat.start()
    stopped = Stopped(context, Stopping(context, heartbeat), [], [])
    monkeypatch.setattr(shutdown, "active_children", lambda: [SimpleNamespace(pid=4_000_001)])
    monkeypatch.setattr(shutdown.os, "kill", lambda *call: stopped.killed.append(call))
    monkeypatch.setattr(shutdown.os, "_exit", stopped.exits.append)
    monkeypatch.setattr(shutdown.logging, "shutdown", lambda: None)
    monkeypatch.setattr(shutdown, "GRACE_SECONDS", 0.05)
    monkeypatch.setattr(shutdown, "LOUD", ())
    stopped.stopping.start()
    yield stopped
    if stopped.stopping._reader >= 0:
        stopped.stopping.stop()
    heartbeat.stop()
    context.close()
    stopped.stopping.over.set()


def keys(context: WorkerContext) -> list[int]:
    with reading(context.engine) as connection:
        return list(connection.scalars(select(Shard.id).order_by(Shard.id)))


def shards(context: WorkerContext) -> list[tuple[str, int]]:
    """State and counted attempts of each."""
    with reading(context.engine) as connection:
        return [tuple(row) for row in connection.execute(select(Shard.state, Shard.attempts).order_by(Shard.id))]


def prepared(worker: Stopped) -> list[int]:
    """The first shard runs here and the second elsewhere; the third was sent here."""
    found = keys(worker.context)
    with writing(worker.context.engine) as connection:
        for key, name in zip(found, (worker.context.worker, "another"), strict=False):
            given = {"owner": f"o{key}", "worker": name, "lease_seconds": 60, "max_attempts": 3}
            assert claim_task(connection, SHARD, key, **given)
        connection.execute(update(Shard).where(Shard.id == found[2]).values(state=LeaseState.ENQUEUED))
    worker.receive("no such task", found[0])
    worker.receive(SHARD.message, found[2])
    worker.receive(SHARD.message, "not a number")
    worker.receive(SHARD.message)
    return found


def test_it_returns_messages_at_once_and_lets_tasks_finish(worker: Stopped, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared(worker)
    waited: list[float] = []
    monkeypatch.setattr(worker.stopping, "_wait", lambda seconds: waited.append(seconds) or shutdown._ENDED)
    worker.told(signal.SIGTERM)
    until(lambda: shards(worker.context)[2][0] == LeaseState.PENDING, "it to stop", 10)
    until(lambda: waited, "it to wait", 10)
    assert waited == [30.0]
    assert state.should_stop == 0
    assert worker.context.shutting_down.message == "this worker is shutting down"
    assert [each[0] for each in shards(worker.context)[:2]] == [LeaseState.RUNNING] * 2
    with reading(worker.context.engine) as connection:
        assert connection.scalar(select(Worker.concurrency)) == 0
    assert worker.killed == []


@pytest.mark.parametrize(
    "numbers", [(signal.SIGQUIT,), (signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGQUIT)]
)
def test_it_releases_its_own_tasks_without_an_attempt(worker: Stopped, numbers: tuple[int, ...]) -> None:
    prepared(worker)
    for number in numbers:
        worker.told(number)
    until(lambda: worker.exits, "it to stop", 10)
    assert shards(worker.context)[:2] == [(LeaseState.PENDING, 0), (LeaseState.RUNNING, 1)]
    assert worker.killed == [(4_000_001, signal.SIGKILL)]
    assert worker.exits == [0]
    with reading(worker.context.engine) as connection:
        assert connection.scalar(select(Worker.id)) is None


def test_it_releases_them_when_their_time_is_over(worker: Stopped, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared(worker)
    monkeypatch.setattr(worker.context, "settings", worker.context.settings.model_copy(update={"stop_seconds": 0.05}))
    worker.told(signal.SIGTERM)
    until(lambda: worker.exits, "it to stop", 10)
    assert shards(worker.context)[0] == (LeaseState.PENDING, 0)


def test_one_that_ends_by_itself_leaves_nothing(worker: Stopped) -> None:
    prepared(worker)
    worker.stopping.stop()
    worker.stopping._reader = -1
    assert [each[0] for each in shards(worker.context)][:3] == ["pending", "running", "pending"]
    assert (worker.killed, worker.exits) == ([], [])
    before = list(worker.stopping._received)
    worker.receive(SHARD.message, 1)
    assert list(worker.stopping._received) == before, "it listens no more"


def test_a_fault_ends_it_with_1(worker: Stopped) -> None:
    worker.stopping.end("The tables are of another release.")
    assert worker.killed == [(os.getpid(), signal.SIGTERM)]
    assert worker.stopping.exit_code == 1
    worker.told(signal.SIGQUIT)
    until(lambda: worker.exits, "it to stop", 10)
    assert worker.exits == [1]


def test_a_child_that_has_just_been_forked_ignores_signals(worker: Stopped, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(shutdown.os, "getpid", lambda: -5)
        worker.told(signal.SIGTERM)
    time.sleep(0.05)
    assert state.should_stop is None
    assert worker.context.shutting_down.message is None


def test_handlers_are_set_once_celery_has_set_its_own(worker: Stopped) -> None:
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        signals.worker_ready.send(sender=None)
        assert {signal.getsignal(number) for number in numbers} == {worker.stopping._on_signal}
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_database_that_is_away_is_asked_again(worker: Stopped, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared(worker)
    asked: list[str] = []

    def release(*_arguments: object) -> int:
        asked.append(threading.current_thread().name)
        if len(asked) <= 2:
            raise OperationalError("UPDATE", {}, Exception("away"))
        return 1

    monkeypatch.setattr(shutdown, "release_worker", release)
    assert worker.stopping._release_all() == len(shutdown.SENT)
    assert len(asked) == 2 + len(shutdown.SENT)


def test_messages_of_every_kind_are_returned(worker: Stopped) -> None:
    sent: list[tuple[object, list[int]]] = []
    for number, kind in enumerate(shutdown.SENT):
        worker.receive(kind.message, number, 100 + number)
        worker.receive(kind.message, 200 + number)
        sent.append((kind.table, [number, 100 + number, 200 + number]))
    returned: list[tuple[object, list[int]]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shutdown, "unsend", lambda _connection, table, its: returned.append((table, its)))
        worker.stopping._return_messages()
    assert returned == sent


@pytest.mark.parametrize(("stop", "terminate", "ready"), [(None, None, True), (0, None, False), (None, 0, False)])
def test_a_worker_that_was_told_to_stop_is_not_ready(
    monkeypatch: pytest.MonkeyPatch, stop: int | None, terminate: int | None, ready: bool
) -> None:
    """Celery keeps the exit status there, and 0 is one."""
    monkeypatch.setattr(state, "should_stop", stop)
    monkeypatch.setattr(state, "should_terminate", terminate)
    assert shutdown.check_stopping().ok == ready


@pytest.mark.parametrize(("reason", "code"), [(None, 0), ("The tables are of another release.", 1)])
def test_it_is_ended_only_when_it_has_had_the_time_to_hand_everything_back(
    worker: Stopped, monkeypatch: pytest.MonkeyPatch, reason: str | None, code: int
) -> None:
    """A database that does not answer holds it no longer than this; tasks may take all of the time they have."""
    ends: list[tuple[Any, ...]] = []
    monkeypatch.setattr(shutdown, "GRACE_SECONDS", 7.0)
    monkeypatch.setattr(
        shutdown,
        "end_in_time",
        lambda over, seconds, *, code, before: ends.append((over, seconds, code, before)),
    )
    monkeypatch.setattr(worker.stopping, "_wait", lambda _seconds: shutdown._ENDED)
    if reason is not None:
        worker.stopping.end(reason)
    worker.told(signal.SIGTERM)
    until(lambda: ends, "it to stop")
    assert ends == [(worker.stopping.over, 30.0 + 7.0 + shutdown.ANSWER_SECONDS, code, shutdown.kill_pool)]
