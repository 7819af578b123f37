"""A worker's heartbeat."""

import os
import threading
import time
from contextlib import nullcontext

import pytest
from sqlalchemy import Connection, delete, select
from sqlalchemy.exc import OperationalError

from models.database.migrate import REVISION
from models.database.session import make_engine, reading, writing
from models.queue.workers import delete_worker
from models.schema.queue import Worker
from steelyard.metrics.metric import EDITION
from tests.faults.cluster import until
from tests.scheduler.jobs import one_block_shards
from worker.context import WorkerContext
from worker.processes import heartbeat as module
from worker.processes.heartbeat import Heartbeat
from worker.tasks import MESSAGE_VERSION


def test_a_worker_starts_although_its_first_connection_is_cut(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would end otherwise, and without a supervisor stay away."""
    context = WorkerContext(one_block_shards(postgres_url), 2)
    register, cut = Heartbeat._register, list[int]()

    def register_once_cut(self: Heartbeat, connection: Connection) -> None:
        if not cut:
            cut.append(connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one())
            with make_engine(postgres_url, pooled=False).connect() as other:
                assert other.exec_driver_sql(f"SELECT pg_terminate_backend({cut[0]})").scalar_one()
        register(self, connection)

    monkeypatch.setattr(Heartbeat, "_register", register_once_cut)
    heartbeat = Heartbeat(context, 2)
    heartbeat.start()
    try:
        assert cut
        with reading(context.engine) as connection:
            assert connection.scalars(select(Worker.id)).all() == [context.worker]
    finally:
        heartbeat.stop()
        context.close()


def test_tables_that_no_longer_fit_are_reported_once(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are looked at every few seconds, and so after many beats, not after each."""
    monkeypatch.setattr(module, "SCHEMA_CHECK_SECONDS", 0.5)
    checks, told, checked_again = list[int](), list[str](), threading.Event()

    def problem(_connection: Connection, _revision: str) -> str:
        checks.append(1)
        if len(checks) == 2:
            checked_again.set()
        return "too old"

    monkeypatch.setattr(module, "read_schema_problem", problem)
    context = WorkerContext(one_block_shards(sqlite_url, beat_seconds=0.01), 2)
    heartbeat = Heartbeat(context, 2, told.append)
    heartbeat.start()
    try:
        assert checked_again.wait(60.0), "they are never looked at"
    finally:
        heartbeat.stop()
        context.close()
    assert told == ["too old"]


def test_a_worker_that_takes_no_more_work_says_so_again_where_it_was_taken_for_dead(sqlite_url: str) -> None:
    """The scheduler would send it messages otherwise, which nobody handles before they count as lost."""
    context = WorkerContext(one_block_shards(sqlite_url, beat_seconds=0.01), 2)
    heartbeat = Heartbeat(context, 2)

    def concurrency() -> int | None:
        with reading(context.engine) as connection:
            return connection.scalar(select(Worker.concurrency))

    heartbeat.start()
    try:
        assert concurrency() == 2
        heartbeat.retire()
        assert concurrency() == 0
        with writing(context.engine) as connection:
            connection.execute(delete(Worker))
        until(lambda: concurrency() is not None, "the row to come back")
        assert concurrency() == 0
    finally:
        heartbeat.stop()
        context.close()
    assert concurrency() is None


@pytest.mark.parametrize(("queue", "device"), [("", None), ("learned", "cuda:1")])
def test_its_row_says_all_that_others_go_by(sqlite_url: str, queue: str, device: str | None) -> None:
    """How much is sent, which messages it reads, which numbers it makes; also where the row has to be written anew."""
    context = WorkerContext(one_block_shards(sqlite_url, beat_seconds=0.01), 2)
    heartbeat = Heartbeat(context, 3, queue=queue, device=device)
    columns = (
        *(Worker.id, Worker.host, Worker.pid, Worker.version, Worker.concurrency, Worker.edition, Worker.revision),
        *(Worker.queue, Worker.device, Worker.message_version),
    )
    expected = (
        *(context.worker, context.host, os.getpid(), context.version, 3, EDITION, REVISION),
        *(queue, device, MESSAGE_VERSION),
    )

    def rows() -> list[tuple[object, ...]]:
        with reading(context.engine) as connection:
            return [tuple(row) for row in connection.execute(select(*columns))]

    heartbeat.start()
    try:
        assert rows() == [expected]
        with writing(context.engine) as connection:
            connection.execute(delete(Worker))
        until(rows, "the row to come back")
        assert rows() == [expected]
    finally:
        heartbeat.stop()
        context.close()


def test_an_outage_of_the_database_is_told_and_no_reason_to_replace_the_worker(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A supervisor that asks whether it is alive would end all workers in the middle of an outage."""
    context = WorkerContext(one_block_shards(sqlite_url, beat_seconds=0.01), 2)
    heartbeat = Heartbeat(context, 2)

    def away(*_: object) -> bool:
        raise OperationalError("UPDATE", {}, Exception("it is away"))

    heartbeat.start()
    monkeypatch.setattr(module, "beat", away)
    until(lambda: "it is away" in heartbeat.pulse.succeeds(60.0).reason, "a beat that fails")
    # As if that went on for an hour.
    heartbeat.pulse._done = time.monotonic() - 3600.0
    assert not heartbeat.pulse.succeeds(60.0).ok
    assert heartbeat.pulse.alive().ok
    monkeypatch.undo()
    until(lambda: heartbeat.pulse.succeeds(60.0).ok, "a beat")
    heartbeat.stop()
    context.close()


def test_one_that_is_stopped_beats_no_more_once_its_row_is_gone(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A beat that finds no row writes it anew, and nobody would delete that."""
    context = WorkerContext(one_block_shards(sqlite_url, beat_seconds=0.01), 2)
    heartbeat, done = Heartbeat(context, 2), list[str]()
    beating, go_on = threading.Event(), threading.Event()

    def slow(*_: object) -> bool:
        beating.set()
        assert go_on.wait(60)
        done.append("beat")
        return True

    def delete_row(connection: Connection, worker: str) -> None:
        done.append("deleted")
        delete_worker(connection, worker)

    heartbeat.start()
    monkeypatch.setattr(module, "beat", slow)
    monkeypatch.setattr(module, "delete_worker", delete_row)
    monkeypatch.setattr(module, "autocommit_writing", lambda _: nullcontext(object()))
    assert beating.wait(60)
    stopping = threading.Thread(target=heartbeat.stop)
    stopping.start()
    until(heartbeat._stopped.is_set, "it to be stopped")
    # Whoever does not wait for the beat deletes the row by then.
    stopping.join(0.2)
    assert done == []
    go_on.set()
    stopping.join(60)
    assert done == ["beat", "deleted"]
    context.close()
