"""Accounts for completed tasks: their time is charged to their teams, and updates the estimated costs of metrics."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Engine, func, select

from models.database.session import reading, writing
from models.queue.kinds.shards import SHARD
from models.queue.task_kind import TaskKind
from scheduler.enqueue.cost_model import learn_from
from scheduler.fair_share import ServiceAccounting
from scheduler.queue_queries import keys_by_kind

MAX_LEARNED = 200
"""Shards per update of the costs: enough to learn from, and quick."""


def settle_ended(engine: Engine, accounting: ServiceAccounting) -> int:
    """Settle the accounts of ended tasks with their actual time, and learn costs from shards; the number of tasks."""
    sent = keys_by_kind(accounting.open)
    if not sent:
        return 0
    with reading(engine) as connection:
        ended = {kind: _ended(connection, kind, keys) for kind, keys in sent.items()}
    for kind, seconds in ended.items():
        for key, took in seconds.items():
            accounting.settle((kind, key), took)
    if shards := list(ended.get(SHARD, ()))[-MAX_LEARNED:]:
        with writing(engine) as connection:
            learn_from(connection, shards)
    return sum(map(len, ended.values()))


def _ended(connection: Connection, kind: TaskKind[Any, Any], keys: list[int]) -> dict[int, float]:
    """Seconds that each of the ended rows took; 0 for those that were never claimed."""
    table = kind.table
    known = [] if kind.took is None else [kind.took]
    seconds = func.coalesce(*known, table.ended_at - table.claimed_at, 0.0)
    rows = connection.execute(
        select(table.id, seconds.label("seconds")).where(table.id.in_(keys), table.ended_at.is_not(None))
    )
    return {row.id: row.seconds for row in rows}
