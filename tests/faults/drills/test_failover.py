"""The primary PostgreSQL is lost under load, and its standby promoted."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from tests import servers
from tests.faults.cluster import SHORT_TIMES, Cluster, until
from tests.faults.drills.drill import LATER, SLOW, calm, ends_as, in_the_middle, says, start
from tests.faults.servers.postgres import OwnPostgres

pytestmark = [pytest.mark.faults, pytest.mark.long]

REPLICATED = ("wal_level=replica", "max_wal_senders=4", "hot_standby=on", "full_page_writes=on")


@pytest.fixture
def primary() -> Iterator[OwnPostgres]:
    with OwnPostgres(*REPLICATED) as server:
        yield server


@pytest.fixture
def standby(primary: OwnPostgres) -> Iterator[OwnPostgres]:
    """A copy that follows, and without which the primary confirms nothing that must last."""
    server = OwnPostgres(*REPLICATED)
    if os.geteuid() == 0:
        shutil.chown(server.home, "nobody")
    port = str(make_url(primary.url).port)
    copied = ("-D", str(server.home / "data"), "-h", "127.0.0.1", "-p", port, "-U", "steelyard", "-R", "-X", "stream")
    primary.run("pg_basebackup", *copied, "--checkpoint=fast")
    server.url = f"postgresql://steelyard@127.0.0.1:{servers.free_port()}/postgres"
    server.start()
    with psycopg.connect(primary.url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        connection.execute("SELECT pg_reload_conf()")
        query = "SELECT sync_state FROM pg_stat_replication"
        until(lambda: connection.execute(query).fetchone() == ("sync",), "a standby that is in step")
    yield server
    server.stop("immediate")
    shutil.rmtree(server.home, ignore_errors=True)


def test_a_standby_is_promoted(
    tmp_path: Path, primary: OwnPostgres, standby: OwnPostgres, redis_url: str, sqlite_template: Path
) -> None:
    expected = calm(sqlite_template, tmp_path, SLOW, LATER)
    database = make_url(primary.new_database()).database
    hosts = "&".join(f"host=127.0.0.1:{make_url(server.url).port}" for server in (primary, standby))
    both = f"postgresql://steelyard@/{database}?{hosts}&target_session_attrs=read-write"
    with Cluster(tmp_path, both, redis_url, **SHORT_TIMES) as cluster:
        start(cluster)
        SLOW.queue(cluster.engine)
        in_the_middle(cluster)
        # Its acceptance is confirmed, and nothing of it may have been done.
        LATER.queue(cluster.engine)
        primary.stop("immediate")
        says(cluster, "trying again", "scheduler", "worker")
        with psycopg.connect(standby.url, autocommit=True) as connection:
            # It would wait for a standby of its own, which it has not.
            connection.execute("SELECT pg_promote()")
            connection.execute("ALTER SYSTEM RESET synchronous_standby_names")
            connection.execute("SELECT pg_reload_conf()")
        ends_as(cluster, expected)
        assert "Traceback" not in cluster.log("worker")
