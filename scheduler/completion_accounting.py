"""What became of the tasks that were sent: what each took counts for its team, and tells what metrics cost."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Engine, func, select

from models.database.session import reading, writing
from models.queue.kinds.shards import SHARD
from models.queue.task_kind import TaskKind
from models.schema.queue import Shard
from scheduler.enqueue.cost_model import learn_from
from scheduler.fair_share import ServiceAccounting
from scheduler.queue_queries import keys_by_kind

MOST_LEARNED = 200
"""Shards that are learned from at a time: enough to know, and few enough to be quick."""


def settle_ended(engine: Engine, accounts: ServiceAccounting) -> int:
    """Let tasks that have ended count as long as they took, and learn from shards; how many there were."""
    sent = keys_by_kind(accounts.open)
    if not sent:
        return 0
    with reading(engine) as connection:
        ended = {kind: _ended(connection, kind, keys) for kind, keys in sent.items()}
    for kind, seconds in ended.items():
        for key, took in seconds.items():
            accounts.settle((kind, key), took)
    if shards := list(ended.get(SHARD, ()))[-MOST_LEARNED:]:
        with writing(engine) as connection:
            learn_from(connection, shards)
    return sum(map(len, ended.values()))


def _ended(connection: Connection, kind: TaskKind[Any, Any], keys: list[int]) -> dict[int, float]:
    """How long each of the rows that have ended took, in seconds: none where it was never claimed.

    Of a shard the numeric work counts, for it may have given way to others.
    """
    table = kind.table
    took = func.coalesce(table.ended_at - table.claimed_at, 0.0)
    if kind is SHARD:
        took = func.coalesce(Shard.kernel_seconds, took)
    rows = connection.execute(
        select(table.id, took.label("seconds")).where(table.id.in_(keys), table.ended_at.is_not(None))
    )
    return {row.id: row.seconds for row in rows}
