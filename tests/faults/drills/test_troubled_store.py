"""The object store is slow, then fails for a while at writing and reading."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.schema.states import LeaseState
from tests.faults.cluster import SHORT_TIMES, Cluster, until
from tests.faults.drills.drill import SLOW, calm, ends_as, in_the_middle, says, start
from tests.faults.troubled_store import FAILURE

pytestmark = [pytest.mark.faults, pytest.mark.long]


def test_it_is_slow_and_fails(tmp_path: Path, postgres_url: str, redis_url: str, sqlite_template: Path) -> None:
    expected = calm(sqlite_template, tmp_path, SLOW)
    # So many attempts outlast an outage of minutes.
    settings = SHORT_TIMES | {
        "statistics_url": f"troubled:/{tmp_path}/store",
        "statistics_bytes": 0,
        "max_attempts": 60,
    }
    (tmp_path / "slow").touch()
    with Cluster(tmp_path, postgres_url, redis_url, **settings) as cluster:
        start(cluster)
        SLOW.queue(cluster.engine)
        in_the_middle(cluster)
        (tmp_path / "failing").touch()
        says(cluster, FAILURE, "worker")
        until(lambda: cluster.log("worker").count(FAILURE) > 3, "tasks that fail")
        assert not cluster.shards(LeaseState.FAILED)
        for mark in ("failing", "slow"):
            (tmp_path / mark).unlink()
        ends_as(cluster, expected)
