"""Small shards that travel together, in real processes: what kills one of them costs the others an attempt, once."""

import os
import signal
from pathlib import Path

import pytest
from sqlalchemy import select, update

from models.database.session import reading, writing
from models.schema.queue import Evaluation, Shard, ShardEvaluation, Worker
from models.schema.states import LeaseState
from scheduler.ingest.campaigns import IngestResult
from tests.faults.campaigns import Job, Outcomes, outcomes, undisturbed
from tests.faults.cluster import PATIENCE, Cluster, children, until
from tests.faults.troubled import GATE
from worker.tasks import MOST_TOGETHER

pytestmark = pytest.mark.faults

SETTINGS = {
    "concurrency": 1,
    "sweep_seconds": 0.2,
    "beat_seconds": 0.3,
    "silent_seconds": 60.0,
    "retry_seconds": 0.05,
    "lost_process_seconds": 0.2,
    # What was measured teaches the scheduler nothing here: all are small.
    "together_seconds": 1e6,
}

GOOD = Job(31, ("troubled",), segments=256 * 29, systems=1)
"""Thirty shards and one more with the bad one: enough for messages of eight and a single process."""


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Outcomes:
    file = tmp_path_factory.mktemp("undisturbed") / "steelyard.db"
    file.write_bytes(sqlite_template.read_bytes())
    return undisturbed(f"sqlite:///{file}", [GOOD])


def bad(text: bytes) -> Job:
    return Job(32, ("troubled",), segments=200, systems=1, trouble={0: text})


def queue(cluster: Cluster, *jobs: Job) -> list[IngestResult]:
    """Queue the jobs, as one request would, the first of which goes first; all shards are small."""
    queued = [job.queue(cluster.engine) for job in jobs]
    with writing(cluster.engine) as connection:
        connection.execute(update(Shard).values(cost=0.001, trace=None))
    return queued


def attempts(cluster: Cluster, evaluations: list[int]) -> list[int]:
    """How often each of the shards of these evaluations was claimed."""
    with reading(cluster.engine) as connection:
        of = select(Shard.attempts).join(ShardEvaluation, ShardEvaluation.shard_id == Shard.id)
        return sorted(connection.scalars(of.where(ShardEvaluation.evaluation_id.in_(evaluations))))


def ends(cluster: Cluster, job: IngestResult) -> tuple[str, str | None]:
    with reading(cluster.engine) as connection:
        row = connection.execute(
            select(Evaluation.state, Evaluation.reason).where(Evaluation.id.in_(job.all_evaluations))
        )
        ((state, reason),) = row
    return state, reason


@pytest.mark.parametrize("database", ["postgres", pytest.param("sqlite", marks=pytest.mark.thorough)])
def test_a_shard_that_kills_its_process_is_alone_the_next_time(
    database: str, expected: Outcomes, tmp_path: Path, redis_url: str, request: pytest.FixtureRequest
) -> None:
    with Cluster(tmp_path, request.getfixturevalue(f"{database}_url"), redis_url, **SETTINGS) as cluster:
        killer, good = queue(cluster, bad(b"KILL "), GOOD)
        cluster.start_worker()
        cluster.start("scheduler", "scheduler")
        cluster.wait_for_all()
        state, reason = ends(cluster, killer)
        assert state == "failed"
        assert str(reason).startswith("Segments 1 to 256 could not be scored (tried 3 times): its process died")
        assert attempts(cluster, killer.all_evaluations) == [3]
        assert attempts(cluster, good.all_evaluations) == [1] * (29 - MOST_TOGETHER + 1) + [2] * (MOST_TOGETHER - 1)
        assert expected.items() <= outcomes(cluster.engine).items()
        assert "Traceback" not in cluster.log("scheduler")


def test_a_shard_that_fails_costs_the_others_nothing(
    expected: Outcomes, tmp_path: Path, postgres_url: str, redis_url: str
) -> None:
    with Cluster(tmp_path, postgres_url, redis_url, **SETTINGS) as cluster:
        failing, good = queue(cluster, bad(b"RAISE "), GOOD)
        cluster.start_worker()
        cluster.start("scheduler", "scheduler")
        cluster.wait_for_all()
        assert ends(cluster, failing) == (
            "failed",
            "Segments 1 to 256 could not be scored (tried 3 times): RuntimeError: this text makes trouble",
        )
        assert attempts(cluster, failing.all_evaluations) == [3]
        assert attempts(cluster, good.all_evaluations) == [1] * 29
        assert expected.items() <= outcomes(cluster.engine).items()


@pytest.mark.thorough
def test_a_process_that_is_killed_between_claim_and_end(
    expected: Outcomes, tmp_path: Path, postgres_url: str, redis_url: str
) -> None:
    """All that it held are tried again, alone, and at once."""
    gate = tmp_path / "gate"
    with Cluster(tmp_path, postgres_url, redis_url, **SETTINGS) as cluster:
        (good,) = queue(cluster, GOOD)
        worker = cluster.start_worker(**{GATE: str(gate)})
        cluster.start("scheduler", "scheduler")
        held = until(lambda: cluster.running() if len(cluster.running()) == MOST_TOGETHER else None, "a full message")
        (child,) = children(worker.pid)
        os.kill(child, signal.SIGKILL)
        again = until(lambda: [each for each in cluster.running() if each not in held], "another message")
        gate.touch()
        cluster.wait_for_all()
        assert attempts(cluster, good.all_evaluations) == [1] * (29 - MOST_TOGETHER) + [2] * MOST_TOGETHER
        assert again
        assert outcomes(cluster.engine) == expected
        assert "exceeded its lease" not in cluster.log("scheduler")


def test_a_worker_that_is_asked_to_stop_begins_no_other_shard_of_its_message(
    expected: Outcomes, tmp_path: Path, postgres_url: str, redis_url: str
) -> None:
    gate = tmp_path / "gate"
    with Cluster(tmp_path, postgres_url, redis_url, **SETTINGS, stop_seconds=120.0) as cluster:
        (good,) = queue(cluster, GOOD)
        worker = cluster.start_worker("first", **{GATE: str(gate)})
        cluster.start("scheduler", "scheduler")
        held = until(lambda: cluster.running() if len(cluster.running()) == MOST_TOGETHER else None, "a full message")
        worker.send_signal(signal.SIGTERM)
        with reading(cluster.engine) as connection:
            retired = select(Worker.concurrency).where(Worker.pid == worker.pid)
        until(lambda: _scalar(cluster, retired) == 0, "a worker that takes no more")
        gate.touch()
        assert worker.wait(PATIENCE) == 0
        with reading(cluster.engine) as connection:
            keys = [key for key, _ in held]
            rows = connection.execute(select(Shard.state, Shard.attempts).where(Shard.id.in_(keys)).order_by(Shard.id))
            assert list(map(tuple, rows)) == [(LeaseState.DONE, 1)] + [(LeaseState.PENDING, 0)] * (MOST_TOGETHER - 1)
        cluster.start_worker("second")
        cluster.wait_for_all()
        assert attempts(cluster, good.all_evaluations) == [1] * 29
        assert outcomes(cluster.engine) == expected


def _scalar(cluster: Cluster, statement: object) -> object:
    with reading(cluster.engine) as connection:
        return connection.scalar(statement)  # type: ignore[call-overload]


@pytest.mark.thorough
def test_messages_that_come_twice_and_in_disorder(
    expected: Outcomes, tmp_path: Path, postgres_url: str, redis_url: str
) -> None:
    with Cluster(tmp_path, postgres_url, redis_url, **{**SETTINGS, "concurrency": 3}) as cluster:
        (good,) = queue(cluster, GOOD)
        cluster.start_worker()
        cluster.start("scheduler", "twice", str(tmp_path / "twice.log"))
        cluster.wait_for_all()
        assert attempts(cluster, good.all_evaluations) == [1] * 29
        assert outcomes(cluster.engine) == expected
        assert (tmp_path / "twice.log").read_text().count("score_shard") == 29
        assert "Traceback" not in cluster.log("worker")
