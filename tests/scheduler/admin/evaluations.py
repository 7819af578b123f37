"""Evaluations of a small job, and what is done to them."""

import threading
from collections.abc import Callable
from typing import TypeVar

import pytest
from sqlalchemy import Connection, Engine, func, select

from models.database.session import reading, writing
from models.queue.kinds.shards import SHARD, ClaimedShard, ShardRow
from models.schema.queue import Evaluation, Shard
from runtime.settings import Settings
from scheduler.ingest.campaigns import IngestResult
from tests.scheduler.jobs import queue_job
from tests.tasks import claim_task

one_kind = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""Where databases cannot differ."""


First = TypeVar("First")


Second = TypeVar("Second")


def queue(engine: Engine, settings: Settings, **others: object) -> IngestResult:
    """Two systems and three shards, each of one block for both."""
    return queue_job(engine, settings, segments=600, systems=2, replicates=10, **others)


def evaluations(engine: Engine) -> list[tuple[str, str | None]]:
    with reading(engine) as connection:
        rows = connection.execute(select(Evaluation.state, Evaluation.reason).order_by(Evaluation.id))
        return [(row.state, row.reason) for row in rows]


def shards(engine: Engine) -> list[tuple[int, str]]:
    with reading(engine) as connection:
        return [(row.id, row.state) for row in connection.execute(select(Shard.id, Shard.state).order_by(Shard.id))]


def count(engine: Engine, table: type) -> int:
    with reading(engine) as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def claimed(engine: Engine, shard: int) -> ClaimedShard:
    with writing(engine) as connection:
        claim = claim_task(connection, SHARD, shard, owner=f"o{shard}", worker="w", lease_seconds=60, max_attempts=3)
    assert claim is not None
    return claim


def anything(claim: ClaimedShard) -> list[ShardRow]:
    """Results that nobody will read."""
    return [ShardRow(evaluation, 0, b"", None) for evaluation in claim.evaluations]


def behind(engine: Engine, first: Callable[[Connection], First], second: Callable[[], Second]) -> tuple[First, Second]:
    """Do the second thing while the transaction of the first is open, for which it must wait."""
    found: list[Second] = []
    thread = threading.Thread(target=lambda: found.append(second()), daemon=True)
    with writing(engine) as connection:
        before = first(connection)
        thread.start()
        thread.join(0.2)
        # However long we look: it cannot have ended yet.
        assert thread.is_alive(), "it did not wait"
    thread.join(60)
    assert found, "it has not ended"
    return before, found[0]
