"""The object store is full, and has room again."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from models.database.session import reading
from models.schema.queue import Evaluation
from models.schema.states import EvaluationState, Fault
from scheduler.admin import retry
from tests.faults.cluster import SHORT_TIMES, Cluster, until
from tests.faults.drills.drill import LATER, REASON_SECONDS, calm, ends_as, start

pytestmark = [pytest.mark.faults, pytest.mark.long]


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder on a disk of its own, of 8 KiB."""
    folder = tmp_path_factory.mktemp("store")
    mounted = (
        os.geteuid() == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=8k,mode=0700", "tmpfs", folder], check=False
        ).returncode
    )
    if not mounted:
        pytest.skip("needs to mount a small disk, which root may")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def test_it_is_full(tmp_path: Path, store: Path, postgres_url: str, redis_url: str, sqlite_template: Path) -> None:
    expected = calm(sqlite_template, tmp_path, LATER)
    settings = SHORT_TIMES | {"statistics_url": f"file://{store}", "statistics_bytes": 0, "max_attempts": 2}
    with Cluster(tmp_path, postgres_url, redis_url, **settings) as cluster:
        start(cluster)
        job = LATER.queue(cluster.engine)

        def failed() -> list[str]:
            with reading(cluster.engine) as connection:
                rows = connection.execute(select(Evaluation.reason, Evaluation.fault, Evaluation.state)).all()
            done = [row for row in rows if row.state == EvaluationState.FAILED]
            assert all(row.fault == Fault.PLATFORM for row in done), "a team would be charged for it"
            return [row.reason for row in done] if len(done) == len(rows) else []

        reasons = until(failed, "the reason", REASON_SECONDS)
        assert all("No space left on device" in reason for reason in reasons), reasons
        subprocess.run(["mount", "-o", "remount,size=64m", store], check=True)
        retry(cluster.engine, cluster.settings, job.all_evaluations)
        ends_as(cluster, expected)
