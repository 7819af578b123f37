"""A worker's heartbeat."""

import threading

import pytest
from sqlalchemy import Connection, delete, select

from models.database.session import make_engine, reading, writing
from models.schema.queue import Worker
from tests.faults.cluster import until
from tests.scheduler.jobs import one_block_shards
from worker.context import WorkerContext
from worker.processes import heartbeat as module
from worker.processes.heartbeat import Heartbeat


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
