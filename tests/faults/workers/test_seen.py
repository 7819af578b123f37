"""A worker, a scheduler and Flower as processes of their own, as those see them who look from outside."""

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from importlib.util import find_spec
from pathlib import Path

import pytest

from models.schema.states import LeaseState, QueueClass
from steelyard.metrics.metric import EDITION
from tests.faults.cluster import Cluster, until
from tests.scheduler.jobs import one_block_shards, queue_job
from tests.scheduler.test_telemetry import Samples, parsed, value
from tests.servers import free_port

pytestmark = pytest.mark.faults

SETTINGS = {
    "concurrency": 2,
    "sweep_seconds": 0.2,
    "beat_seconds": 0.3,
    "retry_seconds": 0.1,
    "log_format": "json",
    "log_level": "debug",
}


ASKED = {"registered", "active_queues"}
"""What Flower shows of a worker that we look at."""


def ask(port: int, path: str) -> tuple[int, bytes]:
    """Status and body; 0 while nobody answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()
    except OSError:
        return 0, b""


def metrics(port: int) -> Samples:
    return parsed(ask(port, "/metrics")[1])


def objects(cluster: Cluster, name: str) -> list[dict[str, object]]:
    """The lines of a log; every one of them must be an object."""
    return [json.loads(line) for line in cluster.log(name).splitlines()]


def test_a_worker_and_a_scheduler_tell_what_they_do(tmp_path: Path, postgres_url: str, redis_url: str) -> None:
    at_worker, at_scheduler = free_port(), free_port()
    with Cluster(tmp_path, postgres_url, redis_url, **SETTINGS) as cluster:
        cluster.start("scheduler", "cli", "scheduler", "--http", str(at_scheduler))
        worker = cluster.start("worker", "cli", "worker", "--http", str(at_worker))
        until(lambda: ask(at_worker, "/health/ready")[0] == 200, "the worker to be ready")
        until(lambda: ask(at_scheduler, "/health/ready")[0] == 200, "the scheduler to lead")
        settings = one_block_shards(postgres_url)
        job = queue_job(
            cluster.engine, settings, segments=600, systems=1, metrics=["troubled"], trouble={0: b"KILLONCE "}
        )
        cluster.wait(job.all_evaluations)
        assert (tmp_path / "killed").exists()
        assert cluster.shards(LeaseState.DONE) == 3
        seen = metrics(at_worker)
        assert value(seen, "steelyard_worker_done_total", kind="shards") == 3
        assert value(seen, "steelyard_worker_done_total", kind="reductions") == 1
        assert value(seen, "steelyard_worker_processes_lost_total", reason="died") == 1
        assert value(seen, "steelyard_worker_retries_total", kind="shards") == 1
        assert value(seen, "steelyard_worker_hypotheses_total") == 600
        assert value(seen, "steelyard_shard_seconds_count") == 3
        assert value(seen, "steelyard_shard_kernel_seconds_count") == 3

        def replaced() -> bool:
            found = metrics(at_worker)
            sizes = [value(found, "steelyard_worker_process_memory_bytes", process=str(each)) for each in range(2)]
            return all(size is not None and size > 2**20 for size in sizes)

        until(replaced, "the memory of both processes")
        seen = metrics(at_scheduler)
        assert (value(seen, "steelyard_scheduler_messages_sent_total") or 0) >= 4
        assert value(seen, "steelyard_scheduler_leading") == 1
        assert value(seen, "steelyard_evaluations", state="done") == 1
        assert value(seen, "steelyard_pool_processes", version=next(iter_versions(seen))) == 2
        # Nobody else keeps the port: neither when the worker stops in order ...
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(60) == 0
        assert ask(at_worker, "/health/live")[0] == 0
        cluster.start("again", "cli", "worker", "--http", str(at_worker))
        until(lambda: ask(at_worker, "/health/live")[0] == 200, "the next worker to serve at the same port")
        lines = objects(cluster, "worker")
        done = [line for line in lines if line["level"] == "info" and str(line["message"]).startswith("Shard ")]
        assert sorted(line["segments"] for line in done) == [88, 256, 256]
        known = {"worker", "task_id", "shard", "protocol", "evaluations", "attempt", "seconds", "kernel_seconds"}
        assert all(known <= line.keys() for line in done)
        assert {json.dumps(line["evaluations"]) for line in done} == {json.dumps(job.all_evaluations)}
        assert worker.pid not in {line["pid"] for line in done}
        (lost,) = [line for line in lines if "is released" in str(line["message"])]
        assert (lost["evaluations"], lost["attempt"], lost["pid"]) == (job.all_evaluations, 1, worker.pid)
        # What Celery says itself goes the same way.
        assert [line for line in lines if str(line["logger"]).startswith("celery")]
        assert [line["message"] for line in objects(cluster, "scheduler")][:1] == ["This scheduler leads"]


def iter_versions(samples: Samples):  # type: ignore[no-untyped-def]
    return (dict(labels)["version"] for name, labels in samples if name == "steelyard_workers")


@pytest.mark.skipif(
    find_spec("flower") is None and not os.environ.get("CI"), reason="Flower is not installed (it comes with [dev])"
)
def test_flower_shows_workers_and_tasks(tmp_path: Path, sqlite_url: str, redis_url: str) -> None:
    port = free_port()
    with Cluster(tmp_path, sqlite_url, redis_url, **SETTINGS, events=True) as cluster:
        command = [sys.executable, "-m", "celery", f"--broker={redis_url}", "flower"]
        with (tmp_path / "flower.log").open("wb") as log:
            flower = subprocess.Popen(
                [*command, "--address=127.0.0.1", f"--port={port}"],
                cwd=tmp_path,
                env={**cluster.environment, "FLOWER_UNAUTHENTICATED_API": "true"},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        cluster.processes["flower"] = flower
        until(lambda: ask(port, "/api/workers")[0] == 200, "Flower")
        cluster.start("worker", "cli", "worker")
        cluster.start("scheduler", "cli", "scheduler")

        def workers() -> dict[str, dict[str, object]]:
            status, body = ask(port, "/api/workers?refresh=1")
            found = json.loads(body) if status == 200 else {}
            # It asks the worker for one after the other, each time with a second's patience.
            return found if found and all(each.keys() >= ASKED for each in found.values()) else {}

        found = until(workers, "Flower to see the worker")
        ((name, shown),) = found.items()
        assert name.startswith("celery@")
        assert set(shown["registered"]) >= {"score_shard", "reduce", "prepare", "randomize"}  # type: ignore[call-overload]
        queues = {queue_class.queue_of(EDITION) for queue_class in QueueClass}
        assert {each["name"] for each in shown["active_queues"]} == queues  # type: ignore[attr-defined]
        job = queue_job(cluster.engine, one_block_shards(sqlite_url), segments=300, systems=1)
        cluster.wait(job.all_evaluations)

        def tasks() -> list[dict[str, object]]:
            seen = json.loads(ask(port, "/api/tasks?taskname=score_shard&state=SUCCESS")[1] or b"{}")
            return list(seen.values()) if len(seen) == 2 else []

        shards = until(tasks, "Flower to see both shards")
        assert {(each["worker"], each["state"]) for each in shards} == {(name, "SUCCESS")}
        assert {each["args"] for each in shards} == {"(1,)", "(2,)"}
