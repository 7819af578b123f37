"""The scheduler's loop: for how long it rests, what follows an outage of the database, and what its end leaves."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine, insert, select, update
from sqlalchemy.exc import OperationalError

from models.database.session import make_engine, reading, writing
from models.queue.kinds.shards import SHARD
from models.schema.base import now
from models.schema.queue import Shard, Worker
from models.schema.states import LeaseState
from runtime.settings import Settings
from scheduler import loop
from scheduler.embedded.processes import Embedded
from scheduler.errors import OtherTables
from scheduler.leader import Leadership
from scheduler.loop import BEATS, SchedulerLoop, SchedulerStatus
from scheduler.nightly.runner import NightlyRunner
from tests.scheduler.jobs import one_block_shards, queue_job
from tests.scheduler.test_dispatch import App
from tests.tasks import claim_task


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = make_engine(database_url)
    yield engine
    engine.dispose()


@pytest.mark.parametrize(("loop_due", "renewal_due"), [(5.0, 2.0), (2.0, 5.0)])
def test_it_rests_until_a_round_or_a_renewal_is_due(loop_due: float, renewal_due: float) -> None:
    """A term that is not renewed while there is nothing to do would end, and another scheduler would lead."""
    stop, rests = threading.Event(), list[float]()

    def wait(seconds: float, _stop: object) -> bool:
        rests.append(seconds)
        stop.set()
        return False

    loop._lead(
        SimpleNamespace(run_once=lambda: True, due_in=lambda: loop_due),  # type: ignore[arg-type]
        SimpleNamespace(held=lambda: True, due_in=lambda: renewal_due),  # type: ignore[arg-type]
        SimpleNamespace(wait=wait),  # type: ignore[arg-type]
        Settings(tick_seconds=0.0001),
        stop,
    )
    assert rests == [2.0]


@pytest.mark.parametrize(("idle", "due"), [(True, 9.0), (False, 3.0)])
def test_nightly_runs_are_looked_after_while_there_is_work(sqlite_url: str, idle: bool, due: float) -> None:
    nightly_runs: Any = SimpleNamespace(due_in=lambda: 3.0)
    settings = Settings(database_url=sqlite_url, sweep_seconds=9.0)
    rounds = SchedulerLoop(make_engine(sqlite_url), App(), settings, nightly_runs, swept=True)
    rounds.idle = idle
    assert rounds.due_in() == pytest.approx(due, abs=2.0)


def test_workers_may_beat_again_after_an_outage_before_any_is_taken_for_silent(
    engine: Engine, database_url: str
) -> None:
    """Nobody could beat meanwhile: all that they run would be released, and done a second time."""
    settings = one_block_shards(
        database_url, beat_seconds=100.0, silent_seconds=200.0, stale_seconds=300.0, sweep_seconds=1e-9
    )
    queue_job(engine, settings)
    rounds = SchedulerLoop(engine, App(), settings)
    assert rounds.run_once(), "it sweeps"
    with writing(engine) as connection:
        silent = {"id": "w", "host": "", "pid": 0, "version": "", "concurrency": 1, "beat_at": now() - 1e6}
        connection.execute(insert(Worker).values(**silent))
        connection.execute(update(Shard).values(state=LeaseState.PENDING, enqueued_at=None))
        key = connection.scalars(select(Shard.id).order_by(Shard.id)).first()
        assert claim_task(connection, SHARD, key, owner="o", worker="w", lease_seconds=1e6, max_attempts=3)
    rounds.pause_recovery()
    assert rounds.due_in() == pytest.approx(BEATS * 100.0, abs=30.0)
    assert not rounds.run_once()

    def held() -> bool:
        with reading(engine) as connection:
            return connection.scalar(select(Shard.owner).where(Shard.id == key)) == "o"

    assert held()
    rounds._next_sweep = 0.0
    assert rounds.run_once()
    assert not held(), "the next sweep takes it for silent"


class Rounds:
    """A scheduler's loop whose rounds go wrong, one after the other, in these ways."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.paused = 0
        self.idle = True

    def run_once(self) -> bool:
        raise self.errors.pop(0)

    def due_in(self) -> float:
        return 0.0

    def pause_recovery(self) -> None:
        self.paused += 1


def test_an_outage_pauses_recovery_and_whatever_ends_it_stops_what_it_began(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds = Rounds(OperationalError("SELECT", {}, Exception("away")), OtherTables("newer"))
    stopped: list[int] = []
    monkeypatch.setattr(loop, "SchedulerLoop", lambda *_, **__: rounds)
    monkeypatch.setattr(NightlyRunner, "stop", lambda _: stopped.append(1))
    settings = Settings(database_url=sqlite_url, sweep_seconds=0.01)
    with pytest.raises(OtherTables, match="newer"):
        loop._stand_by_or_lead(settings, App(), threading.Event(), SchedulerStatus())
    assert rounds.paused == 1
    assert len(stopped) == 1, "commands of nightly runs would go on"
    assert Leadership(sqlite_url, 60.0).acquire(), "nobody waits for the end of its term"


def test_an_outage_pauses_recovery_of_an_embedded_worker_too(sqlite_url: str) -> None:
    embedded = Embedded(Settings(database_url=sqlite_url), 1)
    rounds: Any = Rounds(OperationalError("SELECT", {}, Exception("away")))
    with pytest.raises(OperationalError):
        embedded._send_work(rounds, changed=True)
    assert rounds.paused == 1
    embedded._leadership.release()
    embedded._context.close()


def test_who_stands_by_rests_between_two_looks(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would ask the database thousands of times a second whether somebody else leads."""
    leader, rounds = Leadership(sqlite_url, 60.0), Rounds()
    assert leader.acquire()
    stop, rests, status = threading.Event(), list[float](), SchedulerStatus()

    def wait(seconds: float) -> None:
        rests.append(seconds)
        if len(rests) == 3:
            stop.set()

    monkeypatch.setattr(stop, "wait", wait)
    monkeypatch.setattr(loop, "SchedulerLoop", lambda *_, **__: rounds)
    looks = list[int]()
    acquire = Leadership.acquire

    def look(self: Leadership) -> bool:
        looks.append(1)
        assert len(looks) < 100
        return acquire(self)

    monkeypatch.setattr(Leadership, "acquire", look)
    loop._stand_by_or_lead(Settings(database_url=sqlite_url, sweep_seconds=0.7), App(), stop, status)
    assert rests == [0.7] * 3
    assert not status.leading
    assert status.pulse.succeeds(60.0).ok
    leader.release()
