"""Workers that are asked to stop: what runs may finish or is released, and nobody waits for a lease."""

import os
import re
import signal
from pathlib import Path

import httpx
import pytest
from sqlalchemy import func, select

from models.database.session import reading
from models.schema.queue import Shard, Worker
from models.schema.states import LeaseState
from tests.faults.campaigns import Job, Outcomes, outcomes, undisturbed
from tests.faults.cluster import PATIENCE, Cluster, until
from tests.faults.nursery import Forked
from tests.faults.program import TASKS
from tests.faults.servers.postgres import OwnPostgres
from tests.servers import free_port

pytestmark = pytest.mark.faults

LONG = Job(11, ("troubled:pause=20.0",), segments=256 * 2, systems=1)
SHORT = Job(12, ("troubled:pause=0.4",), segments=256 * 11, systems=1)
SETTINGS = {"concurrency": 2, "sweep_seconds": 0.2, "beat_seconds": 0.3, "retry_seconds": 30.0, "resend_seconds": 60.0}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Outcomes:
    file = tmp_path_factory.mktemp("undisturbed") / "steelyard.db"
    file.write_bytes(sqlite_template.read_bytes())
    return undisturbed(f"sqlite:///{file}", [Job(12, SHORT.metrics, SHORT.segments, 1)])


def stopped(cluster: Cluster, worker: Forked, name: str) -> None:
    """The worker has ended in order."""
    assert worker.wait(PATIENCE) == 0, cluster.log(name)
    assert "Traceback" not in cluster.log(name), cluster.log(name)
    assert "is reclaimed" not in cluster.log("scheduler")
    with reading(cluster.engine) as connection:
        assert worker.pid not in set(connection.scalars(select(Worker.pid)))


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.thorough)])
def test_a_whole_group_is_asked_to_end(
    number: signal.Signals, expected: Outcomes, tmp_path: Path, postgres_url: str, redis_url: str
) -> None:
    """As systemd does it, and a shell: what runs is finished, here too, by pool processes that heard the same."""
    with Cluster(tmp_path, postgres_url, redis_url, **SETTINGS, stop_seconds=60.0) as cluster:
        job = SHORT.queue(cluster.engine)
        cluster.start("scheduler", "scheduler")
        first = cluster.start_worker("first")
        running = until(cluster.running, "a running shard")
        os.killpg(first.pid, number)
        stopped(cluster, first, "first")
        assert "tasks released" not in cluster.log("first")
        with reading(cluster.engine) as connection:
            hit = select(Shard.state, Shard.attempts).where(Shard.id.in_([shard for shard, _ in running]))
            # What was claimed with it and not begun is as if it had never been sent.
            assert (
                {(LeaseState.DONE, 1)}
                <= set(connection.execute(hit))
                <= {(LeaseState.DONE, 1), (LeaseState.PENDING, 0)}
            )
        scheduler = cluster.processes["scheduler"]
        os.killpg(scheduler.pid, signal.SIGTERM)
        assert scheduler.wait(PATIENCE) == 0
        assert "Traceback" not in cluster.log("scheduler")
        cluster.start("another", "scheduler")
        cluster.start_worker("second")
        cluster.wait(job.all_evaluations)
        assert outcomes(cluster.engine) == expected
        with reading(cluster.engine) as connection:
            assert set(connection.scalars(select(Shard.attempts))) == {1}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("name", ["embedded", "up"])
def test_a_whole_group_with_workers_of_its_own_is_asked_to_end(
    name: str, number: signal.Signals, tmp_path: Path, sqlite_url: str
) -> None:
    one_block = {"shortest_shard_seconds": 1e-9, "shard_seconds": 1e-6}
    settings = {**SETTINGS, **one_block, "stop_seconds": 60.0}
    with Cluster(tmp_path, sqlite_url, "memory://localhost/", **settings) as cluster:
        if name == "up":
            SHORT.queue(cluster.engine)
            process = cluster.start("up", "cli", "up", "--no-web")
        else:
            process = cluster.start(name, name, "2100", "troubled:pause=0.4")
        running = until(cluster.running, "a running shard")
        os.killpg(process.pid, number)
        ended = {"up": 0, "embedded": 143 if number == signal.SIGTERM else -number}[name]
        assert process.wait(PATIENCE) == ended, cluster.log(name)
        # Python tells of the interrupt that ends it.
        told = cluster.log(name).rpartition("Traceback")[0] if ended == -number else cluster.log(name)
        assert "Traceback" not in told, cluster.log(name)
        with reading(cluster.engine) as connection:
            hit = select(Shard.state, Shard.attempts).where(Shard.id.in_([shard for shard, _ in running]))
            # What was claimed with it and not begun is as if it had never been sent.
            assert (
                {(LeaseState.DONE, 1)}
                <= set(connection.execute(hit))
                <= {(LeaseState.DONE, 1), (LeaseState.PENDING, 0)}
            )
            assert set(connection.scalars(select(Shard.state))) == {LeaseState.DONE, LeaseState.PENDING}


def test_what_does_not_finish_is_handed_back(tmp_path: Path, postgres_url: str, redis_url: str) -> None:
    with Cluster(tmp_path, postgres_url, redis_url, **SETTINGS) as cluster:
        LONG.queue(cluster.engine)
        cluster.start("scheduler", "scheduler")
        hasty = cluster.start_worker("hasty", STEELYARD_STOP_SECONDS="1")
        until(lambda: len(cluster.running()) == 2, "two running shards")
        hasty.send_signal(signal.SIGTERM)
        until(lambda: not cluster.running(), "shards that are released")
        stopped(cluster, hasty, "hasty")
        assert handed_back(cluster) == [(LeaseState.PENDING, 0, None)] * 2
        assert "2 tasks released" in cluster.log("hasty")

        # Others begin them far sooner than leases, silence and delays would have it: within the message time.
        names = ("twice", "quit")
        workers = [cluster.start_worker(name, STEELYARD_CONCURRENCY="1", STEELYARD_STOP_SECONDS="60") for name in names]
        until(lambda: len(cluster.running()) == 2, "both shards at other workers")
        assert {attempts for _, attempts in cluster.running()} == {1}
        workers[1].send_signal(signal.SIGQUIT)
        workers[0].send_signal(signal.SIGTERM)
        # The window does not count it any more.
        until(lambda: retired(cluster), "a worker that takes no more work")
        workers[0].send_signal(signal.SIGTERM)
        for name, worker in zip(names, workers, strict=True):
            stopped(cluster, worker, name)
            assert "1 tasks released" in cluster.log(name)
        assert handed_back(cluster) == [(LeaseState.PENDING, 0, None)] * 2


def handed_back(cluster: Cluster) -> list[tuple[str, int, str | None]]:
    with reading(cluster.engine) as connection:
        return [tuple(row) for row in connection.execute(select(Shard.state, Shard.attempts, Shard.error))]


def retired(cluster: Cluster) -> bool:
    with reading(cluster.engine) as connection:
        return set(connection.scalars(select(Worker.concurrency))) <= {0}


def test_what_runs_may_finish_and_pool_processes_are_replaced(
    expected: Outcomes, tmp_path: Path, postgres_url: str, redis_url: str
) -> None:
    with Cluster(tmp_path, postgres_url, redis_url, **SETTINGS, stop_seconds=60.0) as cluster:
        job = SHORT.queue(cluster.engine)
        cluster.start("scheduler", "scheduler")
        first = cluster.start_worker("first", **{TASKS: "2"})
        until(lambda: cluster.done() >= 5, "shards of a second generation of processes")
        until(cluster.running, "a running shard")
        first.send_signal(signal.SIGTERM)
        cluster.start_worker("second", **{TASKS: "2"})
        stopped(cluster, first, "first")
        assert "tasks released" not in cluster.log("first")
        cluster.wait(job.all_evaluations)
        assert outcomes(cluster.engine) == expected
        with reading(cluster.engine) as connection:
            assert set(connection.scalars(select(Shard.attempts))) == {1}
            assert connection.scalar(select(func.count()).select_from(Shard)) == 11


@pytest.mark.parametrize(
    "kind", ["scheduler", *(pytest.param(each, marks=pytest.mark.long) for each in ("worker", "learned", "web", "up"))]
)
def test_each_process_ends_in_time_though_nobody_answers(kind: str, tmp_path: Path, redis_url: str) -> None:
    """Containers are killed that have not ended by then."""
    with OwnPostgres() as server, Cluster(tmp_path, server.new_database(), redis_url, stop_seconds=1.0) as cluster:
        page = f"http://127.0.0.1:{free_port()}/"
        if kind in {"worker", "up"}:
            SHORT.queue(cluster.engine)
        if kind == "scheduler":
            process = cluster.start(kind, "cli", "scheduler")
            until(lambda: "This scheduler leads" in cluster.log(kind), "a scheduler that leads")
        elif kind == "web":
            process = cluster.start(kind, "cli", "serve", "--port", page.split(":")[2].strip("/"))
            until(lambda: "Serving at" in cluster.log(kind), "a web service")
            httpx.get(page, timeout=PATIENCE).raise_for_status()
        elif kind == "up":
            process = cluster.start(kind, "cli", "up", "--no-web", STEELYARD_BROKER_URL="memory://localhost/")
            until(cluster.running, "a running shard")
        else:
            process = cluster.start_worker(kind, kind)
        if kind == "worker":
            cluster.start("scheduler", "scheduler")
            until(cluster.running, "a running shard")
        with server.frozen():
            if kind == "web":
                with pytest.raises(httpx.ReadTimeout):
                    httpx.get(page, timeout=2.0)
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0, cluster.log(kind)
        told = cluster.log(kind)
        # A learned worker gives up its own try to release a shard at about the same time.
        gave_up = kind == "learned" and "Running tasks could not be released" in told
        assert gave_up or re.search(r"Ended while it still waits .* It waits in \w+ \(\w+\.py:\d+\)", told), told
