"""A PostgreSQL that is restarted, crashes, cuts connections and stays away for long, while processes work on it."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select

from models.database.session import make_engine, reading
from models.schema.queue import Evaluation, Shard
from models.schema.results import Score
from models.schema.states import EvaluationState
from scheduler.embedded.wait import wait_until_done
from scheduler.ingest.campaigns import IngestResult
from tests.faults.cluster import PATIENCE, SHORT_TIMES, Cluster, Scores, stored_scores, until
from tests.faults.program import PATIENCE as TASKS_PATIENCE
from tests.faults.servers.postgres import OwnPostgres
from tests.scheduler.jobs import one_block_shards, queue_job, work_off

pytestmark = pytest.mark.faults

METRICS = ("troubled:pause=0.1", "bleu")
SEGMENTS = 256 * 15 + 7


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Scores:
    file = tmp_path_factory.mktemp("undisturbed") / "steelyard.db"
    file.write_bytes(sqlite_template.read_bytes())
    settings = one_block_shards(f"sqlite:///{file}")
    engine = make_engine(settings.database_url, pooled=False)
    queue_job(engine, settings, segments=SEGMENTS, metrics=METRICS)
    work_off(settings)
    return stored_scores(engine)


@pytest.fixture(scope="module")
def postgres() -> Iterator[OwnPostgres]:
    with OwnPostgres() as server:
        yield server


@pytest.fixture
def database(postgres: OwnPostgres) -> str:
    return postgres.new_database()


def check(cluster: Cluster, job: IngestResult, undisturbed: Scores) -> None:
    cluster.wait(job.all_evaluations)
    assert stored_scores(cluster.engine) == undisturbed
    with reading(cluster.engine) as connection:
        assert set(connection.scalars(select(Evaluation.state))) == {EvaluationState.DONE}
        assert set(connection.scalars(select(Evaluation.remaining))) == {0}
        assert connection.scalar(select(func.count()).select_from(Score)) == 6


def queue(cluster: Cluster) -> IngestResult:
    """Sixteen shards of one block."""
    settings = one_block_shards(cluster.environment["STEELYARD_DATABASE_URL"])
    return queue_job(cluster.engine, settings, segments=SEGMENTS, metrics=METRICS)


def in_the_middle(cluster: Cluster, done: int) -> None:
    """Wait until some shards are done, one runs, and not all are done."""
    until(lambda: cluster.done() >= done and cluster.running(), "shards that are done, and one that runs")
    assert cluster.done() < cluster.shards(), "the campaign was over before the fault"


def test_restarts_in_the_middle_of_a_campaign(
    tmp_path: Path, postgres: OwnPostgres, database: str, redis_url: str, undisturbed: Scores
) -> None:
    with Cluster(tmp_path, database, redis_url, **SHORT_TIMES) as cluster:
        cluster.start("scheduler", "scheduler")
        worker = cluster.start_worker()
        job = queue(cluster)
        heard: list[int] = []
        waiting = threading.Thread(
            target=lambda: heard.append(wait_until_done(cluster.engine, cluster.settings, job.all_evaluations).done),
            daemon=True,
        )
        waiting.start()
        in_the_middle(cluster, 1)
        assert postgres.cut() >= 3, "worker, heartbeat, scheduler or leadership had no connection"
        for done, how in ((4, "fast"), (7, "immediate")):
            in_the_middle(cluster, done)
            postgres.stop(how)
            postgres.start()
        check(cluster, job, undisturbed)
        waiting.join(PATIENCE)
        assert heard == [3], "a command that waits has not outlived it"
        assert worker.poll() is None
        with reading(cluster.engine) as connection:
            assert connection.scalar(select(func.max(Shard.attempts))) <= 3
        assert "stopped responding" not in cluster.log("scheduler")
        assert "trying again" in cluster.log("worker") + cluster.log("scheduler")


@pytest.mark.long
def test_an_outage_longer_than_anybody_waits(
    tmp_path: Path, postgres: OwnPostgres, database: str, redis_url: str, undisturbed: Scores
) -> None:
    with Cluster(tmp_path, database, redis_url, **SHORT_TIMES) as cluster:
        cluster.environment[TASKS_PATIENCE] = "0.1,0.2"
        cluster.start("scheduler", "scheduler")
        worker = cluster.start_worker()
        job = queue(cluster)
        in_the_middle(cluster, 2)
        held = cluster.running()
        postgres.stop("fast")
        until(lambda: "is abandoned until" in cluster.log("worker"), "a task that gives up")
        # Longer than any worker may be silent: none can beat.
        time.sleep(SHORT_TIMES["silent_seconds"])
        postgres.start()
        check(cluster, job, undisturbed)
        assert any(cluster.attempts(shard) > before for shard, before in held), "no shard was held by one that gave up"
        assert worker.poll() is None
        assert "exceeded its lease" in cluster.log("scheduler")
        assert "stopped responding" not in cluster.log("scheduler"), "the living were taken for dead"
        assert "Traceback" not in cluster.log("worker")


def test_the_embedded_default_outlives_a_restart(tmp_path: Path, postgres: OwnPostgres, database: str) -> None:
    with Cluster(tmp_path, database, "memory://localhost/", **SHORT_TIMES, **ONE_BLOCK) as cluster:
        command = cluster.start("command", "embedded", str(SEGMENTS), "troubled:pause=0.1")
        in_the_middle(cluster, 2)
        postgres.stop("fast")
        until(lambda: "waiting for it" in cluster.log("command"), "the command to find out")
        postgres.start()
        assert command.wait(PATIENCE) == 0, cluster.log("command")
        with reading(cluster.engine) as connection:
            assert set(connection.scalars(select(Evaluation.state))) == {EvaluationState.DONE}
        assert "The database is available again." in cluster.log("command")


ONE_BLOCK = {"shortest_shard_seconds": 1e-9, "shard_seconds": 1e-6}
