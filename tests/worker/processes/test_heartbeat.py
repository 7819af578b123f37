"""A worker's heartbeat."""

import pytest
from sqlalchemy import Connection, select

from models.database.session import make_engine, reading
from models.schema.queue import Worker
from tests.scheduler.jobs import one_block_shards
from worker.context import WorkerContext
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
