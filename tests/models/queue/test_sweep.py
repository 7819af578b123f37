"""What the sweep asks of all kinds of tasks: one statement for each question, and none reads what has ended."""

from collections.abc import Callable

import pytest
from sqlalchemy import Connection, text

from models.database.session import make_engine, reading, writing
from models.queue.kinds.registry import KINDS
from models.queue.sweep import count_stale_messages, find_exhausted, find_expired, resend_stale
from runtime.settings import Settings
from tests.scheduler.jobs import one_block_shards, queue_job
from tests.statements import caught

QUESTIONS: dict[str, Callable[[Connection], object]] = {
    "expired": lambda connection: find_expired(connection, 5.0),
    "exhausted": lambda connection: find_exhausted(connection, Settings()),
    "unanswered": lambda connection: count_stale_messages(connection, 5.0, 1),
    "stale": lambda connection: resend_stale(connection, 5.0, [1], 1),
}
ENDED = """
INSERT INTO shard (protocol_id, first_block, last_block, cost, queue_class, team, state, attempts, not_before, ended_at)
SELECT 1, 0, 1, 1.0, 1, '', 'done', 1, 0.0, number FROM generate_series(1, 20000) AS number
"""


@pytest.mark.parametrize("name", QUESTIONS)
def test_each_question_is_one_statement_that_indexes_answer(postgres_url: str, name: str) -> None:
    engine = make_engine(postgres_url)
    queue_job(engine, one_block_shards(postgres_url), segments=10, systems=1)
    with writing(engine) as connection:
        connection.execute(text(ENDED))
        connection.execute(text("ANALYZE shard"))
    with reading(engine) as connection:
        with caught() as statements:
            QUESTIONS[name](connection)
        [(statement, parameters)] = statements
        plan = "\n".join(connection.exec_driver_sql(f"EXPLAIN {statement}", parameters).scalars())
    engine.dispose()
    assert "ix_shard_" in plan
    assert "Seq Scan on shard" not in plan, plan
    sent = [kind for kind in KINDS if kind.message is not None]
    asked = sent if name in {"unanswered", "stale"} else KINDS
    assert all(f"FROM {kind.table.__tablename__} " in f"{statement.replace(chr(10), ' ')} " for kind in asked)
