"""The worker as a program: what it begins and ends, with which exit code; and what the broker is sent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from celery import signals
from celery.worker import state
from kombu.exceptions import OperationalError

from models.queue.kinds.reductions import REDUCTION
from models.queue.kinds.shards import SHARD
from models.schema.states import QueueClass
from runtime.health import Liveness, run_checks
from runtime.settings import Settings
from steelyard.metrics.metric import EDITION
from worker import app as module
from worker import telemetry
from worker.app import Broker, make_app, run_worker, worker_status
from worker.context import WorkerContext
from worker.errors import BrokerAway
from worker.tasks import TaskMessage
from worker.telemetry import WorkerMetrics


class Parts:
    """Stands for what a worker consists of; `done` notes what happens to it, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, celery: Any, requested: int | None) -> None:
        self.done: list[str] = []
        self.arguments: list[str] = []
        self.celery = celery
        self.context: Any = None
        parts = self

        class Part:
            pulse = None
            exit_code = requested

            def __init__(self, name: str) -> None:
                self.name = name
                self.over = SimpleNamespace(set=lambda: parts.done.append("over"))

            def start(self) -> None:
                parts.done.append(f"{self.name} starts")

            def stop(self) -> None:
                parts.done.append(f"{self.name} stops")

        @contextmanager
        def around(*_: object) -> Iterator[None]:
            yield

        def heartbeat(context: WorkerContext, *_: object) -> Part:
            self.context = context
            close = context.close
            monkeypatch.setattr(context, "close", lambda: (self.done.append("the context closes"), close()))
            return Part("heartbeat")

        monkeypatch.setattr(module, "make_app", lambda *_: SimpleNamespace(worker_main=self._main))
        monkeypatch.setattr(module, "redirect_celery_logs", lambda: self.done.append("logs"))
        monkeypatch.setattr(module, "preload", lambda _: self.done.append("preload"))
        monkeypatch.setattr(module, "bind_global", lambda **_: None)
        monkeypatch.setattr(module, "Heartbeat", heartbeat)
        monkeypatch.setattr(module, "Stopping", lambda *_: Part("stopping"))
        monkeypatch.setattr(module, "Watchdog", lambda *_: Part("watchdog"))
        monkeypatch.setattr(
            module, "handle_lost_processes", lambda _: lambda: self.done.append("nobody listens for losses")
        )
        monkeypatch.setattr(module, "prepared", around)
        monkeypatch.setattr(module, "_served", around)

    def _main(self, arguments: list[str]) -> int | None:
        self.done.append("works")
        self.arguments = arguments
        if isinstance(self.celery, Exception):
            raise self.celery
        found: int | None = self.celery
        return found


ENDS = [
    "stopping stops", "watchdog stops", "nobody listens for losses", "heartbeat stops", "the context closes", "over",
]  # fmt: skip
"""Tasks are released while the worker still beats: others would take it for silent, and count an attempt."""


@pytest.mark.parametrize(
    ("celery", "requested", "code"), [(None, None, 0), (0, None, 0), (3, None, 3), (0, 1, 1), (None, 1, 1), (3, 0, 0)]
)
def test_a_worker_that_was_made_to_end_says_so_by_its_exit_code(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, celery: int | None, requested: int | None, code: int
) -> None:
    """Its supervisor would not begin another after 0."""
    parts = Parts(monkeypatch, celery=celery, requested=requested)
    assert run_worker(Settings(database_url=sqlite_url, broker_url="redis://localhost/0"), 3) == code
    assert parts.done == ["logs", "preload", "heartbeat starts", "stopping starts", "watchdog starts", "works", *ENDS]
    assert "--concurrency=3" in parts.arguments
    assert parts.context.processes == 3


def test_one_that_celery_ends_with_an_error_leaves_nothing_behind(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = Parts(monkeypatch, celery=ValueError("odd"), requested=None)
    with pytest.raises(ValueError, match="odd"):
        run_worker(Settings(database_url=sqlite_url, broker_url="redis://localhost/0"))
    assert parts.done[-len(ENDS) :] == ENDS


@pytest.mark.parametrize("events", [True, False])
def test_it_polls_the_queues_of_its_edition_and_the_most_urgent_first(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, events: bool
) -> None:
    parts = Parts(monkeypatch, celery=0, requested=None)
    run_worker(Settings(database_url=sqlite_url, broker_url="redis://localhost/0", events=events))
    queues = [each.queue_of(EDITION) for each in sorted(QueueClass)]
    assert f"--queues={','.join(queues)}" in parts.arguments
    assert f"--hostname={parts.context.worker}" in parts.arguments
    assert ("--without-heartbeat" in parts.arguments) is not events


@pytest.mark.parametrize(("stop", "ready"), [(None, True), (0, False)])
def test_a_worker_tells_all_that_it_depends_on(
    sqlite_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch, stop: int | None, ready: bool
) -> None:
    monkeypatch.setattr(state, "should_stop", stop)
    monkeypatch.setattr(state, "should_terminate", None)
    context, beat = WorkerContext(Settings(database_url=sqlite_url, broker_url=redis_url)), Liveness("beat")
    status = worker_status(context.settings, context, beat)
    assert {check.name: check.ok for check in run_checks(status.ready).checks} == {
        "database": True, "broker": True, "beat": False, "messages": ready,
    }  # fmt: skip
    assert not run_checks(status.live).ok
    beat.done()
    assert run_checks(status.ready).ok == ready
    assert run_checks(status.live).ok, "one that stops is alive"
    (metrics,) = status.collectors
    assert isinstance(metrics, WorkerMetrics)
    context.close()


@pytest.mark.parametrize("edition", [EDITION, EDITION + 1])
def test_a_message_waits_in_the_queue_of_its_class_and_edition(redis_url: str, edition: int) -> None:
    """Workers of another release have metrics of another edition: they would drop it, and nobody else would see it."""
    broker = Broker(Settings(broker_url=redis_url))
    broker.send(TaskMessage(SHARD, edition, (5, 6), QueueClass.NIGHTLY))
    broker.send(TaskMessage(REDUCTION, edition, (7,), QueueClass.NIGHTLY))
    broker.send(TaskMessage(SHARD, edition, (8,), QueueClass.INTERACTIVE))
    with redis.Redis.from_url(redis_url) as client:
        found = {(each, of): client.llen(each.queue_of(of)) for each in QueueClass for of in (EDITION, EDITION + 1)}
    expected = {QueueClass.NIGHTLY: 2, QueueClass.INTERACTIVE: 1}
    assert found == {(each, of): expected.get(each, 0) if of == edition else 0 for each, of in found}
    assert broker.count(QueueClass) == (
        {each: expected.get(each, 0) for each in QueueClass} if edition == EDITION else dict.fromkeys(QueueClass, 0)
    )


@pytest.mark.parametrize(("url", "prefetches"), [("redis://localhost/0", False), ("amqp://localhost//", True)])
def test_what_celery_is_told(sqlite_url: str, url: str, prefetches: bool) -> None:
    settings = Settings(
        database_url=sqlite_url, broker_url=url, task_seconds=77.0, lease_seconds=200.0, lost_process_seconds=5.5
    )
    told = make_app(settings).conf
    assert (told.task_time_limit, told.worker_lost_wait) == (77.0, 5.5), "a task that hangs would hold its process"
    assert (told.task_acks_late, told.task_reject_on_worker_lost) == (False, False)
    assert (told.broker_connection_retry_on_startup, told.broker_connection_max_retries) == (True, None)
    assert (told.broker_channel_error_retry, told.accept_content) == (True, ["json"])
    assert [each.no_ack for each in told.task_queues] == [not prefetches] * len(QueueClass)
    assert Broker(settings).prefetches is prefetches


@pytest.mark.parametrize(
    ("error", "raised", "anew"),
    [(OperationalError("refused"), BrokerAway, False), (RecursionError("odd"), RecursionError, True)],
)
def test_after_what_kombu_does_not_know_a_new_connection_is_made(
    monkeypatch: pytest.MonkeyPatch, error: Exception, raised: type[Exception], anew: bool
) -> None:
    """Nothing could be sent any more by one that broke in the middle."""
    broker = Broker(Settings(broker_url="redis://localhost/0"))
    reset: list[int] = []
    monkeypatch.setattr(module.pools, "reset", lambda: reset.append(1))

    def fail(*_: object, **__: object) -> None:
        raise error

    before: Any = broker._app
    monkeypatch.setattr(before.tasks[SHARD.message], "apply_async", fail)
    with pytest.raises(raised, match=str(error)):
        broker.send(TaskMessage(SHARD, EDITION, (5,), QueueClass.CAMPAIGN))
    assert (broker._app is not before, len(reset)) == (anew, int(anew))


def test_the_memory_of_each_process_is_its_own(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    context = WorkerContext(Settings(database_url=sqlite_url), 3)
    monkeypatch.setattr(context.counters, "processes", lambda: {0: 71, 1: 72, 2: 73})
    # One of them has just ended.
    monkeypatch.setattr(telemetry, "memory_bytes", lambda pid=0: {71: 1000, 72: None, 73: 3000}.get(pid, 5))
    (memory,) = [each for each in WorkerMetrics(context.counters).collect() if each.name == telemetry.MEMORY]
    assert {each.labels["process"]: each.value for each in memory.samples} == {"0": 1000, "2": 3000}
    context.close()


@pytest.mark.parametrize("listens", [True, False])
def test_health_is_told_once_the_processes_of_the_pool_are_there(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, listens: bool
) -> None:
    """A thread that serves before they are forked would not be there in them, but its locks would."""
    context, started = WorkerContext(Settings(database_url=sqlite_url)), list[str]()

    @contextmanager
    def serve(host: str, port: int, _status: object) -> Iterator[Any]:
        assert (host, port) == (context.settings.http_host, context.settings.http_port)
        yield SimpleNamespace(start=lambda: started.append("server")) if listens else None

    monkeypatch.setattr(module, "serve_status", serve)
    with module._served(context.settings, context, Liveness("beat")):
        assert started == []
        signals.worker_ready.send(sender=None)
        assert started == ["server"] * listens
    signals.worker_ready.send(sender=None)
    assert started == ["server"] * listens, "a worker that has ended serves no more"
    context.close()
