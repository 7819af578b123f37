"""An idle worker whose messages wait, look after look, ends; any other goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from celery.worker import state
from sqlalchemy import select, update
from sqlalchemy.exc import OperationalError

from models.database.session import writing
from models.schema.queue import Shard
from models.schema.states import LeaseState
from tests.faults.cluster import until
from tests.scheduler.jobs import one_block_shards, queue_job
from worker.context import WorkerContext
from worker.errors import BrokerAway
from worker.processes import watchdog
from worker.processes.watchdog import LOOKS, Watchdog

SECONDS = 0.06


@pytest.fixture
def context(sqlite_url: str) -> Iterator[WorkerContext]:
    context = WorkerContext(one_block_shards(sqlite_url, deaf_seconds=SECONDS))
    yield context
    context.close()


class Watched:
    """A worker whose broker, database and tasks are given; `looks` counts how often the broker was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, waiting: Callable[[int], int]) -> None:
        self.looks = 0
        self.ended: list[int] = []
        monkeypatch.setattr(state, "total_count", {"one": 5})

        def count(_app: object, classes: object) -> dict[object, int]:
            self.looks += 1
            return {each: waiting(self.looks) for each in list(classes)[-1:]}

        monkeypatch.setattr(watchdog, "count_messages", count)
        monkeypatch.setattr(watchdog, "_end", lambda: self.ended.append(self.looks))

    def watch(self, context: WorkerContext, looks: int) -> list[int]:
        """Watch for so many looks; at which it would have ended."""
        dog = Watchdog(None, context)
        dog.start()
        until(lambda: self.looks >= looks, "looks", 20)
        dog.stop()
        return [each for each in self.ended if each <= looks]


def test_it_ends_after_so_many_looks_in_a_row(context: WorkerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Watched(monkeypatch, lambda _: 1).watch(context, LOOKS + 1) == [LOOKS, LOOKS + 1]


def test_a_look_without_messages_begins_again(context: WorkerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(monkeypatch, lambda look: int(look != LOOKS))
    assert watched.watch(context, 2 * LOOKS + 1) == [2 * LOOKS, 2 * LOOKS + 1]


def test_a_broker_that_cannot_be_asked_is_no_reason(context: WorkerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(_look: int) -> int:
        raise BrokerAway("away")

    assert Watched(monkeypatch, away).watch(context, 2 * LOOKS) == []


def test_a_database_that_cannot_be_asked_is_no_reason(context: WorkerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    dog = Watchdog(None, context)

    def away() -> bool:
        raise OperationalError("SELECT", {}, Exception("away"))

    monkeypatch.setattr(dog, "_holds_work", away)
    assert not dog._is_stuck()


def test_tasks_that_were_received_begin_again(context: WorkerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    def waiting(look: int) -> int:
        if look == LOOKS - 1:
            state.total_count["one"] += 1
        return 1

    # The next look finds that something was heard, and asks nobody.
    watched = Watched(monkeypatch, waiting)
    assert watched.watch(context, 2 * LOOKS) == [2 * LOOKS - 1, 2 * LOOKS]


@pytest.mark.parametrize(
    ("worker", "where", "ends"), [("own", "running", False), ("own", "done", True), ("x", "running", True)]
)
def test_a_worker_at_work_goes_on(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch, worker: str, where: str, ends: bool
) -> None:
    queue_job(context.engine, context.settings, segments=300, systems=1)
    with writing(context.engine) as connection:
        row = {"state": LeaseState(where), "worker": context.worker if worker == "own" else worker}
        first = select(Shard.id).order_by(Shard.id).limit(1).scalar_subquery()
        connection.execute(update(Shard).where(Shard.id == first).values(**row))
    watched = Watched(monkeypatch, lambda _: 1)
    if ends:
        assert watched.watch(context, LOOKS) == [LOOKS]
        return
    dog = Watchdog(None, context)
    dog.start()
    time.sleep(3 * SECONDS)
    dog.stop()
    assert (watched.looks, watched.ended) == (0, []), "the broker is not even asked"


def test_looks_are_a_sixth_of_the_time_apart(context: WorkerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    # Long enough for a pause that is too short to be seen beside what a look takes.
    monkeypatch.setattr(context, "settings", context.settings.model_copy(update={"deaf_seconds": 10 * SECONDS}))
    watched = Watched(monkeypatch, lambda _: 1)
    begun = time.monotonic()
    watched.watch(context, LOOKS)
    assert time.monotonic() - begun >= 10 * SECONDS


def test_it_leaves_no_process_of_its_pool_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """They would hold what they have claimed, and beside the next worker twice the memory."""
    done: list[object] = []
    monkeypatch.setattr(watchdog, "kill_pool", lambda: done.append("pool"))
    monkeypatch.setattr(watchdog.os, "_exit", done.append)
    watchdog._end()
    assert done == ["pool", 1]
