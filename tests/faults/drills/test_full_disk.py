"""The disk of PostgreSQL is full while work goes on, and has room again."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.faults.cluster import SHORT_TIMES, Cluster
from tests.faults.drills.drill import SLOW, calm, ends_as, in_the_middle, says, start
from tests.faults.servers.postgres import OwnPostgres

pytestmark = [pytest.mark.faults, pytest.mark.long]

FULL = "No space left on device"


@pytest.fixture
def postgres() -> Iterator[OwnPostgres]:
    """A server on a disk of its own."""
    own = OwnPostgres("min_wal_size=32MB", "max_wal_size=48MB")
    mount = ["mount", "-t", "tmpfs", "-o", "size=250m", "tmpfs", own.home]
    if os.geteuid() or subprocess.run(mount, check=False).returncode:
        pytest.skip("needs to mount a small disk, which root may")
    try:
        with own:
            yield own
    finally:
        subprocess.run(["umount", "--lazy", own.home], check=True)


def fill(folder: Path) -> Path:
    """Take all the room there is."""
    ballast = folder / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    return ballast


def test_it_is_full(tmp_path: Path, postgres: OwnPostgres, redis_url: str, sqlite_template: Path) -> None:
    expected = calm(sqlite_template, tmp_path, SLOW)
    settings = SHORT_TIMES | {"max_attempts": 60}
    with Cluster(tmp_path, postgres.new_database(), redis_url, **settings) as cluster:
        start(cluster)
        SLOW.queue(cluster.engine)
        in_the_middle(cluster)
        ballast = fill(postgres.home)
        says(cluster, FULL, "worker", "scheduler")
        ballast.unlink()
        # Without room for its log PostgreSQL ends itself; somebody starts it again.
        if not postgres.runs():
            postgres.start_again()
        ends_as(cluster, expected)
