"""Workers and a scheduler as processes of their own, on real servers, with trouble on the way.

Whatever happens, the scores are those of an undisturbed run, to the bit.
"""

import os
import signal
from pathlib import Path

import pytest
from sqlalchemy import func, select

from models.database.session import make_engine, reading
from models.queue.leader import read_leader
from models.queue_status.progress import Progress
from models.schema.queue import Evaluation, Shard, Worker
from models.schema.results import Score
from models.schema.states import EvaluationState, LeaseState, QueueClass
from scheduler.embedded.processes import Embedded
from scheduler.embedded.wait import wait_until_done
from scheduler.ingest.campaigns import IngestResult
from steelyard.metrics.metric import EDITION
from tests.faults.cluster import PATIENCE, Cluster, Scores, children, stored_scores, until
from tests.scheduler.jobs import one_block_shards, queue_job, run_until_done

pytestmark = [
    pytest.mark.faults,
    # From Python 3.12 on; the pool of the embedded worker is forked from a thread by design.
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]

METRICS = ("troubled:pause=0.1", "bleu")
SEGMENTS = 256 * 11 + 7
SETTINGS = {
    "concurrency": 2,
    "silent_seconds": 6.0,
    "sweep_seconds": 0.2,
    "beat_seconds": 0.3,
    "resend_seconds": 2.0,
    "retry_seconds": 0.1,
}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Scores:
    """The scores of the job, from the embedded default with another number of shards."""
    url = f"sqlite:///{tmp_path_factory.mktemp('undisturbed') / 'steelyard.db'}"
    Path(url.removeprefix("sqlite:///")).write_bytes(sqlite_template.read_bytes())
    settings = one_block_shards(url).model_copy(update={"concurrency": 2})
    with Embedded(settings) as embedded:
        job = queue_job(embedded.engine, settings, segments=SEGMENTS, metrics=METRICS, processes=2)
        assert run_until_done(embedded, job.all_evaluations).done == 3
    return stored_scores(make_engine(url, pooled=False))


@pytest.fixture
def cluster(tmp_path: Path, postgres_url: str, redis_url: str):
    with Cluster(tmp_path, postgres_url, redis_url, **SETTINGS) as cluster:
        yield cluster


def queue(cluster: Cluster) -> IngestResult:
    """Twelve shards of one block."""
    settings = one_block_shards(cluster.environment["STEELYARD_DATABASE_URL"])
    return queue_job(cluster.engine, settings, segments=SEGMENTS, metrics=METRICS)


def check(cluster: Cluster, job: IngestResult, undisturbed: Scores) -> None:
    cluster.wait(job.all_evaluations)
    assert stored_scores(cluster.engine) == undisturbed
    with reading(cluster.engine) as connection:
        assert set(connection.scalars(select(Evaluation.state))) == {EvaluationState.DONE}
        assert set(connection.scalars(select(Evaluation.remaining))) == {0}
        assert connection.scalar(select(func.count()).select_from(Score)) == 6


def test_nothing_happens(cluster: Cluster, undisturbed: Scores) -> None:
    cluster.start("scheduler", "scheduler")
    worker = cluster.start_worker()
    job = queue(cluster)
    heard: list[Progress] = []
    wait_until_done(cluster.engine, cluster.settings, job.all_evaluations, heard.append)
    assert [progress.done for progress in heard][-1] == 3
    assert heard[0].open == 3
    check(cluster, job, undisturbed)
    with reading(cluster.engine) as connection:
        assert connection.scalar(select(func.count()).select_from(Shard)) == 12
        assert set(connection.scalars(select(Shard.attempts))) == {1}
    # SIGTERM ends a worker in order: its row is gone.
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(PATIENCE) == 0
    with reading(cluster.engine) as connection:
        assert connection.scalar(select(func.count()).select_from(Worker)) == 0
    assert "Traceback" not in cluster.log("worker") + cluster.log("scheduler")


def test_a_pool_process_is_killed_in_the_middle_of_a_shard(cluster: Cluster, undisturbed: Scores) -> None:
    cluster.start("scheduler", "scheduler")
    worker = cluster.start_worker()
    job = queue(cluster)
    victims = until(cluster.running, "a running shard")
    for child in children(worker.pid):
        os.kill(child, signal.SIGKILL)
    hit = [shard for shard, _ in victims]
    check(cluster, job, undisturbed)
    assert max(cluster.attempts(shard) for shard in hit) > 1, "the kill hit no running shard"
    # That we are here shows that the main process released it: the lease is three minutes long.
    assert "is reclaimed" not in cluster.log("scheduler")


def test_a_whole_worker_is_killed_in_the_middle_of_a_shard(cluster: Cluster, undisturbed: Scores) -> None:
    cluster.start("scheduler", "scheduler")
    cluster.start_worker()
    job = queue(cluster)
    victims = until(cluster.running, "a running shard")
    cluster.kill("worker")
    assert set(victims) & set(cluster.running()), "the kill hit no running shard"
    cluster.start_worker("second")
    check(cluster, job, undisturbed)
    assert "stopped responding" in cluster.log("scheduler")


def test_a_leading_scheduler_is_frozen(cluster: Cluster, undisturbed: Scores) -> None:
    """Another takes over when its term is over, and it sends nothing when it wakes up."""
    first = cluster.start("first", "scheduler")
    until(lambda: leads(cluster, first.pid), "the first one to lead")
    second = cluster.start("second", "scheduler")
    cluster.start_worker()
    cluster.freeze("first")
    job = queue(cluster)
    until(lambda: leads(cluster, second.pid), "the second one to lead")
    check(cluster, job, undisturbed)
    cluster.thaw("first")
    until(lambda: "This scheduler no longer leads" in cluster.log("first"), "the first one to find out")
    assert leads(cluster, second.pid)
    with reading(cluster.engine) as connection:
        assert set(connection.scalars(select(Shard.attempts))) == {1}


def leads(cluster: Cluster, pid: int) -> bool:
    with reading(cluster.engine) as connection:
        return f":{pid}:" in (read_leader(connection, SETTINGS["silent_seconds"]) or "")


def test_every_message_is_delivered_twice(cluster: Cluster, undisturbed: Scores, tmp_path: Path) -> None:
    sent = tmp_path / "sent"
    cluster.start("scheduler", "twice", str(sent))
    cluster.start_worker()
    job = queue(cluster)
    check(cluster, job, undisturbed)
    assert len(sent.read_text().splitlines()) >= 12
    with reading(cluster.engine) as connection:
        assert set(connection.scalars(select(Shard.attempts))) == {1}


def test_all_messages_are_lost(cluster: Cluster, undisturbed: Scores) -> None:
    import redis

    job = queue(cluster)
    cluster.start("scheduler", "scheduler")
    worker = cluster.start_worker()
    until(cluster.running, "a running shard")
    # Messages that wait at the broker are gone; with the pool stopped some must be waiting.
    worker.send_signal(signal.SIGSTOP)
    with redis.Redis.from_url(cluster.environment["STEELYARD_BROKER_URL"]) as client:
        lost = until(lambda: client.llen(QueueClass.CAMPAIGN.queue_of(EDITION)), "messages at the broker")
        client.flushdb()
    worker.send_signal(signal.SIGCONT)
    assert lost > 0
    check(cluster, job, undisturbed)
    with reading(cluster.engine) as connection:
        assert set(connection.scalars(select(Shard.state))) == {LeaseState.DONE}
