"""Workers that die while they reduce, and one that sleeps past its lease."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select

from models.database.session import reading
from models.schema.queue import Evaluation, Reduction, Shard
from models.schema.states import LeaseState
from tests.faults.campaigns import Job, Outcomes, outcomes, undisturbed
from tests.faults.cluster import Cluster, children, until

pytestmark = pytest.mark.faults

REDUCED = Job(1, ("weary:pause=1.0",), segments=600, systems=2)
SCORED = Job(2, ("troubled:pause=0.3", "bleu"), segments=256 * 5)
SETTINGS = {
    "concurrency": 2,
    "silent_seconds": 6.0,
    "sweep_seconds": 0.2,
    "beat_seconds": 0.3,
    "retry_seconds": 0.1,
    "max_attempts": 20,
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Outcomes:
    file = tmp_path_factory.mktemp("undisturbed") / "steelyard.db"
    file.write_bytes(sqlite_template.read_bytes())
    return undisturbed(f"sqlite:///{file}", [REDUCED, SCORED])


@pytest.fixture
def cluster(tmp_path: Path, postgres_url: str, redis_url: str):
    with Cluster(tmp_path, postgres_url, redis_url, **SETTINGS) as cluster:
        cluster.start("scheduler", "scheduler")
        cluster.start_worker()
        yield cluster


def check(cluster: Cluster, jobs: list[Job], expected: Outcomes) -> None:
    with reading(cluster.engine) as connection:
        evaluations = list(connection.scalars(select(Evaluation.id)))
    cluster.wait(evaluations)
    campaigns = {f"campaign {job.seed}" for job in jobs}
    assert outcomes(cluster.engine) == {key: outcome for key, outcome in expected.items() if key[0] in campaigns}


def kill_pool_process(cluster: Cluster, worker: str) -> None:
    for child in children(cluster.processes[worker].pid):
        os.kill(child, signal.SIGKILL)


def kill_worker(cluster: Cluster, worker: str) -> None:
    cluster.kill(worker)
    cluster.start_worker("another")


def reductions(cluster: Cluster) -> list[tuple[int, str, int]]:
    with reading(cluster.engine) as connection:
        rows = connection.execute(select(Reduction.id, Reduction.state, Reduction.attempts))
        return [(row.id, row.state, row.attempts) for row in rows]


def test_it_is_killed_while_it_reduces(cluster: Cluster, expected: Outcomes) -> None:
    """First its pool process, then, while that is made good, all of the worker."""
    kills: list[Callable[[Cluster, str], None]] = [kill_pool_process, kill_worker]
    REDUCED.queue(cluster.engine)
    for attempt, kill in enumerate(kills, 1):
        running = (LeaseState.RUNNING, attempt)
        until(lambda running=running: [row[1:] for row in reductions(cluster)] == [running], "a running reduction")
        kill(cluster, "worker")
        if attempt == 1:
            assert "is reclaimed" not in cluster.log("scheduler")
    check(cluster, [REDUCED], expected)
    [(_, state, attempts)] = reductions(cluster)
    assert (state, attempts) == (LeaseState.DONE, 3), "a kill hit no running reduction"
    assert "stopped responding" in cluster.log("scheduler")
    with reading(cluster.engine) as connection:
        assert set(connection.scalars(select(Shard.attempts))) == {1}


def test_it_sleeps_past_its_lease(cluster: Cluster, expected: Outcomes) -> None:
    SCORED.queue(cluster.engine)

    def asleep() -> list[tuple[int, int]]:
        """Shards that run, and no transaction is open that would stay so."""
        cluster.freeze("worker")
        if not cluster.in_transaction() and (found := cluster.running()):
            return found
        cluster.thaw("worker")
        return []

    victims = until(asleep, "a running shard")
    cluster.start_worker("another")
    until(lambda: all(cluster.attempts(shard) > 1 for shard, _ in victims), "another claim")
    cluster.thaw("worker")
    check(cluster, [SCORED], expected)
    dropped = "was taken over by another worker: discarding its result"
    until(lambda: cluster.log("worker").count(dropped) >= len(victims), "what comes too late")


@pytest.mark.long
def test_it_ends_when_it_does_not_hear_its_messages(cluster: Cluster, expected: Outcomes) -> None:
    # The other takes no messages for a while, and does all the work when it wakes up.
    cluster.processes["worker"].send_signal(signal.SIGSTOP)
    cluster.environment["STEELYARD_DEAF_SECONDS"] = "1.5"
    deaf = cluster.start("deaf", "deaf")
    REDUCED.queue(cluster.engine)
    until(lambda: children(deaf.pid), "its pool")
    pool = children(deaf.pid)
    until(lambda: deaf.poll() is not None, "its end")
    assert deaf.poll() == 1, cluster.log("deaf")
    assert "Messages are waiting, but this idle worker has received none for 1.5 s" in cluster.log("deaf")
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pool), "the end of its pool")
    cluster.thaw("worker")
    check(cluster, [REDUCED], expected)
    assert cluster.processes["worker"].poll() is None
