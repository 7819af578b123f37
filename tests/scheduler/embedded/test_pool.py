"""The embedded pool: its processes die, grow old and are stopped, and the work goes on."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, select

from models.database.session import reading
from models.queue.kinds.shards import SHARD
from models.queue_status.progress import Progress, read_progress
from models.schema.queue import Shard
from models.schema.states import QueueClass
from runtime.settings import Settings
from scheduler.embedded import pool as embedded_pool
from scheduler.embedded.pool import Pool
from scheduler.embedded.processes import Embedded
from scheduler.errors import WorkerDidNotStart
from steelyard.metrics.metric import EDITION
from tests.scheduler.jobs import one_block_shards, queue_job
from worker.context import WorkerContext
from worker.processes import start
from worker.tasks import TaskMessage

# From Python 3.12 on; processes that take the place of others are forked beside the heartbeat.
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

HOUR = 3600.0


@pytest.fixture
def pool(sqlite_url: str) -> Iterator[Pool]:
    """One process, not started."""
    context = WorkerContext(Settings(database_url=sqlite_url), 1)
    pool = Pool(context, 1)
    yield pool
    pool.stop(0.0, lambda: False, lambda: None)
    context.close()


def message(key: int, queue_class: QueueClass = QueueClass.CAMPAIGN, edition: int | None = None) -> TaskMessage:
    return TaskMessage(SHARD, EDITION if edition is None else edition, (key,), queue_class)


def writing_to(file: Path, before: Callable[[], object] = lambda: None) -> Callable[..., None]:
    """A way to perform tasks that writes down which, after something else was done."""

    def perform(context: WorkerContext, task: str, keys: tuple[int, ...], task_id: str) -> None:
        before()
        with file.open("a") as opened:
            opened.write("".join(f"{key} " for key in keys))

    return perform


def work_off(pool: Pool) -> None:
    """Let a pool do all that waits."""
    deadline = time.monotonic() + 60.0
    while any(pool.count(QueueClass).values()):
        assert time.monotonic() < deadline, "nobody works any more"
        pool.run(0.05)


@pytest.mark.parametrize("dying", [1, 4])
def test_what_a_process_takes_to_its_grave_is_done_by_others(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dying: int
) -> None:
    """Twice as many as there are processes would leave none at work."""
    marks, perform = tmp_path / "marks", embedded_pool.perform

    def die_first(context: WorkerContext, task: str, keys: tuple[int, ...], task_id: str) -> None:
        with marks.open("ab") as file:
            file.write(b"x")
            file.flush()
            if file.tell() <= dying:
                os.kill(os.getpid(), signal.SIGKILL)
        perform(context, task, keys, task_id)

    monkeypatch.setattr(embedded_pool, "perform", die_first)
    settings = one_block_shards(sqlite_url, concurrency=2)
    deadline = time.monotonic() + 60.0

    def progress(connection: Connection) -> Progress:
        assert time.monotonic() < deadline, "nobody works any more"
        return read_progress(connection, job.all_evaluations)

    with Embedded(settings) as embedded:
        job = queue_job(embedded.engine, settings, segments=256 * 9, systems=2)
        assert embedded.run_until(progress).done == 2
    assert marks.stat().st_size > dying


def test_the_most_urgent_class_goes_first(pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_pool, "perform", writing_to(tmp_path / "done"))
    pool.start()
    for key, queue_class in enumerate((QueueClass.NIGHTLY, QueueClass.CAMPAIGN, QueueClass.INTERACTIVE)):
        pool.send(message(key, queue_class))
    assert pool.count(QueueClass) == dict.fromkeys(QueueClass, 1)
    work_off(pool)
    assert (tmp_path / "done").read_text() == "2 1 0 "


def test_what_another_edition_is_for_is_left(pool: Pool) -> None:
    pool.send(message(1, edition=-1))
    assert not any(pool.count(QueueClass).values())
    pool.start()


def test_a_process_that_has_done_enough_is_replaced(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def note_who() -> None:
        (tmp_path / f"{os.getpid()}.pid").touch()

    monkeypatch.setattr(embedded_pool, "perform", writing_to(tmp_path / "done", note_who))
    monkeypatch.setattr(start, "TASKS_PER_PROCESS", 2)
    pool.start()
    for key in range(5):
        pool.send(message(key))
    work_off(pool)
    assert (tmp_path / "done").read_text() == "0 1 2 3 4 "
    assert len(list(tmp_path.glob("*.pid"))) == 3


def test_a_pool_whose_processes_die_before_they_are_ready_is_given_up(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_pool, "begin", lambda *_: os._exit(7))
    pool.start()

    def run() -> None:
        for _ in range(100):
            pool.run(HOUR)

    with pytest.raises(WorkerDidNotStart, match="exit status 7"):
        run()


def test_who_is_woken_looks_up_at_once(pool: Pool) -> None:
    pool.start()
    pool.wake()
    pool.run(HOUR)


def test_processes_work_while_somebody_is_told_of_progress(sqlite_url: str) -> None:
    """A command imports what its report needs the first time that it is told."""
    settings = Settings(database_url=sqlite_url)
    begun = list[int]()

    def tell(_progress: Progress) -> None:
        deadline = time.monotonic() + 60.0
        while not begun:
            assert time.monotonic() < deadline, "nobody has anything to do"
            with reading(embedded.engine) as connection:
                begun.extend(connection.scalars(select(Shard.id).where(Shard.claimed_at.is_not(None))))

    with Embedded(settings, 1) as embedded:
        job = queue_job(embedded.engine, settings)
        [process] = embedded._pool._processes.values()
        assert process.pipe.poll(60.0), "it is never ready"
        embedded.run_until(lambda connection: read_progress(connection, job.all_evaluations), tell)


def test_a_task_that_fails_harms_no_other(pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def perform(context: WorkerContext, task: str, keys: tuple[int, ...], task_id: str) -> None:
        if keys == (0,):
            raise RuntimeError("no")
        writing_to(tmp_path / "done")(context, task, keys, task_id)

    monkeypatch.setattr(embedded_pool, "perform", perform)
    pool.start()
    for key in range(2):
        pool.send(message(key))
    work_off(pool)
    assert (tmp_path / "done").read_text() == "1 "


def test_a_pool_in_a_hurry_does_not_wait_for_its_tasks(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As at a second Ctrl-C: whoever waits for it has asked twice."""
    begun, looks = tmp_path / "begun", list[int]()

    def perform(*_: object) -> None:
        begun.touch()
        signal.pause()

    monkeypatch.setattr(embedded_pool, "perform", perform)
    context = WorkerContext(Settings(database_url=sqlite_url), 1)
    pool = Pool(context, 1)
    pool.start()
    pool.send(message(1))
    deadline = time.monotonic() + 60.0
    while not begun.exists():
        assert time.monotonic() < deadline, "nobody works"
        pool.run(0.05)

    def meanwhile() -> None:
        looks.append(1)
        assert len(looks) < 200, "it goes on waiting"

    pool.stop(HOUR, lambda: len(looks) > 2, meanwhile)
    assert not pool.busy
    context.close()


def test_a_process_that_was_killed_gets_no_other_task(pool: Pool) -> None:
    """What it has just said comes before its end does; a task given to it would be lost with it."""
    pool.start()
    deadline = time.monotonic() + 60.0
    [process] = pool._processes.values()
    while not process.begun:
        assert time.monotonic() < deadline, "it is never ready"
        pool.run(0.05)
    process.killed = "it took too long"
    pool.send(message(1))
    pool._assign()
    assert process.message is None
    assert pool.count([QueueClass.CAMPAIGN]) == {QueueClass.CAMPAIGN: 1}
    process.killed = ""
    pool._assign()
    assert process.message is not None


@pytest.mark.parametrize(
    ("killed", "ending", "reason"),
    [
        ("", False, "its process died (SIGKILL)."),
        ("it took too long", False, None),
        ("", True, "its process died (SIGKILL)."),
        ("the pool was stopped", True, "nothing is released"),
    ],
)
def test_a_task_is_released_with_the_reason_why_its_process_ended(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, killed: str, ending: bool, reason: str | None
) -> None:
    """None for one that took too long; whoever stops the pool releases the others without a reason."""
    released, forked = list[tuple[object, ...]](), list[int]()
    monkeypatch.setattr(embedded_pool, "release_lost", lambda _context, *more: released.append(more))
    monkeypatch.setattr(pool, "_reap", lambda _process: -signal.SIGKILL)
    monkeypatch.setattr(pool, "_fork", forked.append)
    ended = embedded_pool._Process(5, None, None, message(1), "t", begun=True, killed=killed)  # type: ignore[arg-type]
    pool._ending = ending
    pool._replace(ended)
    assert released == ([] if ending and killed else [(str(SHARD.message), "t", (1,), reason)])
    assert forked == ([] if ending else [5])
    pool._ending = False
    pool.start()


def test_what_waits_is_not_begun_once_the_pool_ends(pool: Pool) -> None:
    pool.start()
    pool.send(message(1))
    pool.finish()
    assert not any(pool.count(QueueClass).values())
    pool.send(message(2))
    assert not any(pool.count(QueueClass).values()), "nor what comes later"
