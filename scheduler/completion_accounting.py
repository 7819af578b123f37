"""What became of the tasks that were sent: what each took counts for its team, and tells what metrics cost."""

from __future__ import annotations

from sqlalchemy import Connection, Engine, func, select

from models.database.session import reading, writing
from models.schema.queue import Leased, Shard
from scheduler.enqueue.cost_model import learn_from
from scheduler.fair_share import Accounts
from scheduler.queue_queries import keys_by_table

MOST_LEARNED = 200
"""Shards that are learned from at a time: enough to know, and few enough to be quick."""


def settle_ended(engine: Engine, accounts: Accounts) -> int:
    """Let tasks that have ended count as long as they took, and learn from shards; how many there were."""
    sent = keys_by_table(accounts.open)
    if not sent:
        return 0
    with reading(engine) as connection:
        ended = {table: _ended(connection, table, keys) for table, keys in sent.items()}
    for table, seconds in ended.items():
        for key, took in seconds.items():
            accounts.settle((table, key), took)
    if shards := list(ended.get(Shard, ()))[-MOST_LEARNED:]:
        with writing(engine) as connection:
            learn_from(connection, shards)
    return sum(map(len, ended.values()))


def _ended(connection: Connection, table: type[Leased], keys: list[int]) -> dict[int, float]:
    """How long each of the rows that have ended took, in seconds: none where it was never claimed.

    Of a shard the numeric work counts, for it may have given way to others.
    """
    took = func.coalesce(table.ended_at - table.claimed_at, 0.0)
    if table is Shard:
        took = func.coalesce(Shard.kernel_seconds, took)
    rows = connection.execute(
        select(table.id, took.label("seconds")).where(table.id.in_(keys), table.ended_at.is_not(None))
    )
    return {row.id: row.seconds for row in rows}
