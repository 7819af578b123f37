"""The scheduler and those who wait are notified of changes, and ask for themselves only now and then."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from sqlalchemy import Engine, func, insert, select, update

from models.database.session import make_engine, reading, writing
from models.queue_status.progress import read_progress
from models.schema.base import now
from models.schema.queue import Evaluation, Shard, Worker
from models.schema.states import EvaluationState, LeaseState
from runtime.settings import Settings
from scheduler import loop
from scheduler.embedded import processes, wait
from scheduler.embedded.processes import Embedded
from scheduler.embedded.wait import Outage
from scheduler.loop import SchedulerLoop
from scheduler.nightly.runner import NightlyRunner
from steelyard.metrics.metric import EDITION
from tests.faults.cluster import until
from tests.scheduler.jobs import one_block_shards, queue_job
from tests.scheduler.test_dispatch import App
from tests.statements import caught

HOUR = 3600.0

QUEUE = """
import sys
from models.database.session import make_engine
from runtime.settings import Settings
from tests.scheduler.jobs import queue_job
engine = make_engine(sys.argv[1])
queue_job(engine, Settings(database_url=sys.argv[1]))
engine.dispose()
"""


def patient(url: str, **more: float) -> Settings:
    """Settings with which nothing is looked for within an hour."""
    times = {"sweep_seconds": HOUR, "recount_seconds": HOUR, "stale_seconds": 2 * HOUR, "silent_seconds": HOUR, **more}
    return one_block_shards(url, **{**times, "concurrency": 1})


def queue_elsewhere(url: str) -> None:
    """Queue an evaluation in another process."""
    subprocess.run([sys.executable, "-c", QUEUE, url], cwd=Path(__file__).parents[2], check=True, timeout=300)


def add_worker(engine: Engine) -> None:
    with writing(engine) as connection:
        somebody = {"id": "somebody", "host": "", "pid": 0, "version": "", "concurrency": 1, "edition": EDITION}
        connection.execute(insert(Worker).values(**somebody, beat_at=now()))


@contextmanager
def looping(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The scheduler's loop in a thread, once it waits for something to do; a worker is there to do it."""
    went = threading.Event()
    go = SchedulerLoop.run_once

    def watched(self: SchedulerLoop) -> bool:
        swept = go(self)
        went.set()
        return swept

    monkeypatch.setattr(SchedulerLoop, "run_once", watched)
    monkeypatch.setattr("worker.app.Broker", lambda _settings: App())
    engine = make_engine(settings.database_url)
    add_worker(engine)
    engine.dispose()
    stop = threading.Event()
    thread = threading.Thread(target=loop.run, args=(settings, stop), daemon=True)
    thread.start()
    try:
        assert went.wait(60)
        yield
    finally:
        stop.set()
        thread.join(60)
    assert not thread.is_alive()


def sent(url: str) -> int:
    engine = make_engine(url, pooled=False)
    with reading(engine) as connection:
        return connection.scalar(select(func.count()).where(Shard.state == LeaseState.ENQUEUED)) or 0


def test_work_that_another_process_queues_is_sent_though_nobody_looks(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with looping(patient(database_url), monkeypatch):
        queue_elsewhere(database_url)
        until(lambda: sent(database_url), "the shards to be sent")


def test_work_is_sent_at_the_next_look_where_no_notification_arrived(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Deaf:
        def wait(self, seconds: float, stop: threading.Event) -> bool:
            stop.wait(seconds)
            return False

        def close(self) -> None:
            pass

    monkeypatch.setattr(loop, "listen", lambda _settings: Deaf())
    with looping(patient(database_url, sweep_seconds=0.1), monkeypatch):
        queue_elsewhere(database_url)
        until(lambda: sent(database_url), "the shards to be sent")


def test_work_that_another_process_queues_is_done_by_one_command_for_all(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "LOOK_SECONDS", HOUR)

    class Ended:
        def __init__(self, done: int) -> None:
            self.open = not done

    def read(connection) -> Ended:
        done = select(func.count()).where(Evaluation.state == EvaluationState.DONE)
        return Ended(connection.scalar(done))

    looked = threading.Event()
    queueing = threading.Thread(target=lambda: looked.wait(60) and queue_elsewhere(database_url), daemon=True)
    queueing.start()
    with Embedded(patient(database_url), 1) as embedded:
        assert not embedded.run_until(read, lambda _: looked.set()).open
    queueing.join()


def test_who_waits_sees_progress(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait, "LOOK_SECONDS", HOUR)
    engine = make_engine(database_url)
    settings = patient(database_url)
    job = queue_job(engine, settings)
    looked = threading.Event()

    def cancel() -> None:
        looked.wait(60)
        with writing(engine) as connection:
            connection.execute(Evaluation.__table__.update().values(state=EvaluationState.CANCELLED))

    ending = threading.Thread(target=cancel, daemon=True)
    ending.start()
    last = wait.wait_until(
        engine, settings, lambda connection: read_progress(connection, job.all_evaluations), lambda _: looked.set()
    )
    assert not last.open
    ending.join()
    engine.dispose()


def test_progress_is_reported_when_there_is_some(sqlite_url: str) -> None:
    """Else a command that writes into a file would fill it with the same line."""

    class Seen(NamedTuple):
        done: int
        open: bool

    engine = make_engine(sqlite_url)
    states = iter([Seen(0, True), Seen(0, True), Seen(1, True), Seen(1, True), Seen(2, False)])
    told: list[Seen] = []
    watch = wait.Watch(engine, lambda _: next(states), told.append, Outage())
    assert [watch.poll() for _ in range(5)] == [False] * 4 + [True]
    assert [each.done for each in told] == [0, 1, 2]
    engine.dispose()


@pytest.mark.parametrize(("check_seconds", "statements_each"), [(HOUR, 1), (0.0, 2)])
def test_a_round_without_work_asks_little(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, check_seconds: float, statements_each: int
) -> None:
    """Whether there is work, and what time it is; now and then, whether the tables are still ours."""
    monkeypatch.setattr(loop, "SCHEMA_CHECK_SECONDS", check_seconds)
    settings = patient(sqlite_url, sweep_seconds=1e-9)
    engine = make_engine(sqlite_url)
    nightly_runs = NightlyRunner(settings)
    rounds = SchedulerLoop(engine, App(), settings, nightly_runs)
    # The first one looks at everything.
    assert rounds.run_once()
    with caught() as statements:
        for _ in range(10):
            assert rounds.run_once()
    assert len(statements) == 10 * statements_each
    nightly_runs.stop()
    engine.dispose()


def test_a_round_looks_at_everything_when_something_waits(database_url: str) -> None:
    settings = patient(database_url, sweep_seconds=1e-9)
    engine = make_engine(database_url)
    rounds = SchedulerLoop(engine, App(), settings)
    assert rounds.run_once()
    queue_job(engine, settings)
    with caught() as statements:
        assert rounds.run_once()
    assert len(statements) > 10
    engine.dispose()


def test_who_has_just_sent_something_does_not_ask_whether_there_is_work(database_url: str) -> None:
    settings, app = patient(database_url), App()
    engine = make_engine(database_url)
    rounds = SchedulerLoop(engine, app, settings, swept=True)
    queue_job(engine, settings)
    add_worker(engine)
    asked, sent, idle = [], [], []
    for _ in range(4):
        with caught() as statements:
            assert not rounds.run_once()
        asked.append(any("AS work" in statement for statement, _ in statements))
        sent.append(len(app.sent))
        idle.append(rounds.idle)
        if len(asked) == 3:
            with writing(engine) as connection:
                connection.execute(update(Shard).values(state=LeaseState.DONE))
                connection.execute(update(Evaluation).values(state=EvaluationState.DONE))
    assert sent[0] > 0
    assert sent == sent[:1] * 4
    assert asked == [True, False, True, True]
    assert idle == [False, False, False, True]
    engine.dispose()
