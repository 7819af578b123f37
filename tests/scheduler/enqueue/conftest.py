"""A worker that counts references."""

from collections.abc import Iterator

import pytest
from sqlalchemy import insert

import worker.computing.corpus_statistics
from models.database.migrate import REVISION
from models.database.session import writing
from models.schema.queue import Worker
from tests.scheduler.jobs import one_block_shards
from worker.context import WorkerContext


@pytest.fixture
def context(database_url: str) -> Iterator[WorkerContext]:
    worker.computing.corpus_statistics._kept.clear()
    # Its worker beats only once, and must not seem to have died where the machine is slow.
    context = WorkerContext(one_block_shards(database_url, silent_seconds=1000.0))
    with writing(context.engine) as connection:
        release = {"version": context.version, "revision": REVISION}
        connection.execute(insert(Worker).values(id=context.worker, host="h", pid=1, concurrency=2, **release))
    yield context
    context.close()
