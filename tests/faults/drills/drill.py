"""What drills share: a cluster, two jobs, and what must come of them."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from models.database.session import reading
from models.schema.queue import Evaluation
from tests.faults.campaigns import Job, Outcomes, outcomes, undisturbed
from tests.faults.cluster import Cluster, until

REASON_SECONDS = 120.0
"""Within which somebody who looks must find the reason."""
SLOW = Job(seed=1, metrics=("troubled:pause=0.1", "bleu"), segments=256 * 15 + 7)
LATER = Job(seed=2, metrics=("troubled:pause=0.02", "chrf"), segments=256 * 7)


def calm(sqlite_template: Path, folder: Path, *jobs: Job) -> Outcomes:
    """What comes of the jobs when nothing happens."""
    file = folder / "calm.db"
    file.write_bytes(sqlite_template.read_bytes())
    return undisturbed(f"sqlite:///{file}", jobs)


def start(cluster: Cluster) -> None:
    """A scheduler and a worker."""
    cluster.start("scheduler", "scheduler")
    cluster.start_worker()


def in_the_middle(cluster: Cluster) -> None:
    """Wait until some shards are done and others wait."""
    until(lambda: cluster.done() >= 2 and cluster.running(), "shards that are done, and one that runs")
    assert cluster.done() < cluster.shards(), "the work was over before the fault"


def says(cluster: Cluster, reason: str, *names: str) -> None:
    """Wait until a process tells this reason in its log, at most as long as somebody may have to wait for it."""
    until(lambda: any(reason in cluster.log(name) for name in names), f"{reason!r} in a log", REASON_SECONDS)


def ends_as(cluster: Cluster, expected: Outcomes) -> None:
    """Wait until everything has ended; it must have ended so, to the bit."""

    def ended() -> bool:
        with suppress(DBAPIError), reading(cluster.engine) as connection:
            return not connection.scalars(select(Evaluation.id).where(Evaluation.finished_at.is_(None))).first()
        time.sleep(0.2)
        return False

    until(ended, "the end of all evaluations")
    assert outcomes(cluster.engine) == expected
