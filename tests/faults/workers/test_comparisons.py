"""Trouble while systems are compared: whatever happens, every trial counts once."""

import os
import signal
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, func, select

from models.database.session import make_engine, reading
from models.queue_status.progress import read_comparison_progress
from models.schema.queue import Comparison, Trials
from models.schema.results import Randomization, SystemRuns
from models.schema.states import ComparisonState, LeaseState, QueueClass
from scheduler.enqueue.randomization import request_comparison
from steelyard.metrics.metric import EDITION
from tests.faults.cluster import PATIENCE, Cluster, children, until
from tests.faults.workers.test_processes import SETTINGS
from tests.scheduler.jobs import one_block_shards, queue_job, work_off

pytestmark = pytest.mark.faults

TRIALS = 1600
"""Eight tasks, each of which asks three pairs for scores."""


def scored(engine: Engine, url: str, pause: float) -> tuple[int, list[int]]:
    """A protocol of which three systems are scored."""
    settings = one_block_shards(url)
    job = queue_job(engine, settings, segments=100, systems=3, metrics=[f"weary:pause={pause}"])
    work_off(settings)
    engine.dispose()
    return job.protocols[0], job.all_evaluations


def ask(engine: Engine, url: str, pause: float, **settings: object) -> int | None:
    protocol, evaluations = scored(engine, url, pause)
    pairs = list(combinations([(each,) for each in evaluations], 2))
    asked = one_block_shards(url, **settings)
    return request_comparison(engine, asked, protocol, pairs, [0], trials=TRIALS, seed=3)


def stored(engine: Engine) -> set[tuple[Any, ...]]:
    """All tests: the evaluations of both sides, difference and count."""
    with reading(engine) as connection:
        of = {row.id: row.evaluation_id for row in connection.execute(select(SystemRuns))}
        return {
            (of[row.a_id], of[row.b_id], row.difference, row.as_large)
            for row in connection.execute(select(Randomization))
        }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> set[tuple[Any, ...]]:
    """The tests, made at once in this process."""
    url = f"sqlite:///{tmp_path_factory.mktemp('undisturbed') / 'steelyard.db'}"
    Path(url.removeprefix("sqlite:///")).write_bytes(sqlite_template.read_bytes())
    engine = make_engine(url, pooled=False)
    assert ask(engine, url, 0.0, at_once_seconds=1e9) is None
    found = stored(engine)
    assert len(found) == 3
    assert any(0 < as_large < TRIALS for *_, as_large in found)
    return found


@pytest.fixture
def cluster(tmp_path: Path, postgres_url: str, redis_url: str):
    with Cluster(tmp_path, postgres_url, redis_url, **SETTINGS) as cluster:
        yield cluster


def frozen(cluster: Cluster, worker: int) -> list[int]:
    """Trials that run in pool processes which are stopped in the middle of them."""
    pool = children(worker)
    for child in pool:
        os.kill(child, signal.SIGSTOP)
    time.sleep(0.05)
    found = running(cluster)
    if not found:
        for child in pool:
            os.kill(child, signal.SIGCONT)
    return found


def queue(cluster: Cluster, pause: float = 0.1) -> int:
    """Score and ask before there is a scheduler, which would take shards away from a worker that does not beat."""
    comparison = ask(cluster.engine, cluster.environment["STEELYARD_DATABASE_URL"], pause, at_once_seconds=0.0)
    assert comparison is not None
    return comparison


def in_state(engine: Engine, state: LeaseState) -> list[int]:
    with reading(engine) as connection:
        return list(connection.scalars(select(Trials.id).where(Trials.state == state)))


def running(cluster: Cluster) -> list[int]:
    return in_state(cluster.engine, LeaseState.RUNNING)


def attempts(engine: Engine) -> dict[int, int]:
    with reading(engine) as connection:
        return {row.id: row.attempts for row in connection.execute(select(Trials.id, Trials.attempts))}


def check(cluster: Cluster, comparison: int, undisturbed: set[tuple[Any, ...]]) -> None:
    def ended() -> bool:
        with reading(cluster.engine) as connection:
            return not read_comparison_progress(connection, [comparison]).open

    until(ended, "the end of the comparison")
    assert stored(cluster.engine) == undisturbed
    with reading(cluster.engine) as connection:
        assert list(connection.scalars(select(Comparison.state))) == [ComparisonState.DONE]
        assert list(connection.scalars(select(Comparison.remaining))) == [0]
        assert list(connection.scalars(select(Trials.state))) == [LeaseState.DONE] * 8


def test_a_pool_process_is_killed_in_the_middle_and_every_message_delivered_twice(
    cluster: Cluster, undisturbed: set[tuple[Any, ...]], tmp_path: Path
) -> None:
    sent = tmp_path / "sent"
    comparison = queue(cluster)
    cluster.start("scheduler", "twice", str(sent))
    worker = cluster.start_worker()
    victims = until(lambda: frozen(cluster, worker.pid), "running trials")
    for child in children(worker.pid):
        os.kill(child, signal.SIGKILL)
    check(cluster, comparison, undisturbed)
    assert max(attempts(cluster.engine)[key] for key in victims) > 1, "the kill hit no running trials"
    # The main process released them: the lease is three minutes long.
    assert "is reclaimed" not in cluster.log("scheduler")
    messages = {line for line in sent.read_text().splitlines() if line.startswith("randomize ")}
    assert len(messages) == 8


@pytest.mark.long
def test_a_whole_worker_is_killed_in_the_middle(cluster: Cluster, undisturbed: set[tuple[Any, ...]]) -> None:
    comparison = queue(cluster)
    cluster.start("scheduler", "scheduler")
    worker = cluster.start_worker()
    victims = until(lambda: frozen(cluster, worker.pid), "running trials")
    cluster.kill("worker")
    cluster.start_worker("second")
    check(cluster, comparison, undisturbed)
    assert max(attempts(cluster.engine)[key] for key in victims) > 1, "the kill hit no running trials"
    assert "stopped responding" in cluster.log("scheduler")


@pytest.mark.long
def test_all_messages_are_lost(cluster: Cluster, undisturbed: set[tuple[Any, ...]]) -> None:
    import redis

    comparison = queue(cluster, pause=0.2)
    cluster.start("scheduler", "scheduler")
    worker = cluster.start_worker()
    until(lambda: running(cluster), "running trials")
    worker.send_signal(signal.SIGSTOP)
    with redis.Redis.from_url(cluster.environment["STEELYARD_BROKER_URL"]) as client:
        lost = until(lambda: client.llen(QueueClass.CAMPAIGN.queue_of(EDITION)), "messages at the broker")
        client.flushdb()
    worker.send_signal(signal.SIGCONT)
    assert lost > 0
    check(cluster, comparison, undisturbed)


def test_the_next_command_takes_up_what_a_killed_one_left(
    tmp_path: Path, sqlite_url: str, undisturbed: set[tuple[Any, ...]]
) -> None:
    engine = make_engine(sqlite_url, pooled=False)
    protocol, _ = scored(engine, sqlite_url, 0.2)
    settings = {"concurrency": 2, "at_once_seconds": 0.0, "shortest_shard_seconds": 1e-9, "shard_seconds": 1e-9}
    with Cluster(tmp_path, sqlite_url, "memory://localhost/", **settings) as cluster:
        cluster.start("first", "randomize", str(protocol), str(TRIALS))
        done = until(lambda: in_state(engine, LeaseState.DONE), "trials that are done")
        cluster.kill("first")
        assert stored(engine) == set(), "it was killed too late"
        before = attempts(engine)
        second = cluster.start("second", "randomize", str(protocol), str(TRIALS))
        assert second.wait(PATIENCE) == 0, cluster.log("second")
    assert stored(engine) == undisturbed
    after = attempts(engine)
    assert len(after) == 8
    # What was done is not done again.
    assert all(after[key] == before[key] for key in done)
    with reading(engine) as connection:
        assert connection.scalar(select(func.count()).select_from(Comparison)) == 1
