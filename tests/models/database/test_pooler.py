"""PgBouncer in transaction mode between the processes and PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from sqlalchemy import insert, text

from models.database.session import make_engine, reading, writing
from models.schema.campaigns import Campaign
from tests.faults.cluster import stored_scores
from tests.pooler import pooled, program
from tests.scheduler.jobs import one_block_shards, queue_job, work_off


@pytest.fixture
def through(postgres_url: str) -> Iterator[str]:
    if program() is None:
        assert not os.environ.get("CI"), "CI installs pgbouncer"
        pytest.skip("needs pgbouncer (Debian's package)")
    with pooled(postgres_url, connections=3) as url:
        yield url


@pytest.mark.parametrize(
    ("relaxed", "durable", "found"), [(True, False, "off"), (True, True, "off"), (False, False, "on")]
)
def test_commits_wait_for_the_disk_where_they_must(
    through: str, postgres_url: str, relaxed: bool, durable: bool, found: str
) -> None:
    engine = make_engine(through, relaxed=relaxed)
    with writing(engine, durable=durable) as connection:
        assert connection.scalar(text("SHOW synchronous_commit")) == found
        connection.execute(insert(Campaign).values(name="a"))
        written = connection.scalar(text("SELECT pg_current_wal_insert_lsn()"))
    if durable:
        with reading(make_engine(postgres_url, pooled=False)) as connection:
            assert connection.scalar(text(f"SELECT pg_current_wal_flush_lsn() >= '{written}'::pg_lsn"))
    # Whoever gets this connection next must not have it so.
    with reading(engine) as connection:
        assert connection.scalar(text("SHOW synchronous_commit")) == "on"


def test_a_campaign_is_scored_the_same(through: str, postgres_url: str, sqlite_url: str) -> None:
    for url, settings in (
        (through, one_block_shards(through, listen_url=postgres_url)),
        (sqlite_url, one_block_shards(sqlite_url)),
    ):
        queue_job(make_engine(url, pooled=False), settings, segments=256 * 8, metrics=("bleu", "chrf"))
        work_off(settings)
    assert stored_scores(make_engine(through)) == stored_scores(make_engine(sqlite_url))
