"""Trouble while the references are prepared: whatever happens, shards wait and the scores are the same to the bit."""

import os
import signal
from pathlib import Path

import pytest
from sqlalchemy import func, select

from models.database.session import make_engine, reading
from models.schema.queue import CorpusCount, CorpusStatistics, Evaluation, Shard
from models.schema.states import EvaluationState, LeaseState, QueueClass
from scheduler.embedded.processes import Embedded
from scheduler.ingest.campaigns import IngestResult
from steelyard.metrics.metric import EDITION
from tests.faults.cluster import Cluster, Scores, children, stored_scores, until
from tests.faults.workers.test_processes import SETTINGS
from tests.scheduler.jobs import one_block_shards, queue_job, run_until_done

pytestmark = [
    pytest.mark.faults,
    # From Python 3.12 on; the pool of the embedded worker is forked from a thread by design.
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]

METRICS = ("careful:pause=0.3", "nist")
SEGMENTS = 256 * 7 + 7


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Scores:
    """The scores of the job, from the embedded default with everything in one part."""
    url = f"sqlite:///{tmp_path_factory.mktemp('undisturbed') / 'steelyard.db'}"
    Path(url.removeprefix("sqlite:///")).write_bytes(sqlite_template.read_bytes())
    settings = one_block_shards(url, shortest_shard_seconds=100.0, shard_seconds=100.0)
    with Embedded(settings, concurrency=1) as embedded:
        job = queue_job(embedded.engine, settings, segments=SEGMENTS, metrics=METRICS)
        assert run_until_done(embedded, job.all_evaluations).done == 3
    engine = make_engine(url, pooled=False)
    with reading(engine) as connection:
        assert connection.scalar(select(func.count()).select_from(CorpusCount)) == 4
    return stored_scores(engine)


@pytest.fixture
def cluster(tmp_path: Path, postgres_url: str, redis_url: str):
    with Cluster(tmp_path, postgres_url, redis_url, **SETTINGS) as cluster:
        yield cluster


def queue(cluster: Cluster) -> IngestResult:
    """Eight parts of one block for each of two states, and eight shards."""
    settings = one_block_shards(cluster.environment["STEELYARD_DATABASE_URL"])
    return queue_job(cluster.engine, settings, segments=SEGMENTS, metrics=METRICS)


def slow(cluster: Cluster, *, merges: bool) -> list[int]:
    """Counts with a pause that run now."""
    with reading(cluster.engine) as connection:
        return list(
            connection.scalars(
                select(CorpusCount.id)
                .join(CorpusStatistics, CorpusStatistics.id == CorpusCount.corpus_statistics_id)
                .where(
                    CorpusStatistics.metric.startswith("careful"),
                    CorpusCount.state == LeaseState.RUNNING,
                    CorpusCount.merges.is_(merges),
                )
            )
        )


def attempts(cluster: Cluster, keys: list[int]) -> int:
    """How often the one of these that was claimed most often was."""
    with reading(cluster.engine) as connection:
        return connection.execute(select(func.max(CorpusCount.attempts)).where(CorpusCount.id.in_(keys))).scalar_one()


def check(cluster: Cluster, job: IngestResult, undisturbed: Scores) -> None:
    cluster.wait(job.all_evaluations)
    assert stored_scores(cluster.engine) == undisturbed
    with reading(cluster.engine) as connection:
        assert set(connection.scalars(select(Evaluation.state))) == {EvaluationState.DONE}
        assert set(connection.scalars(select(CorpusCount.state))) == {LeaseState.DONE}
        assert set(connection.scalars(select(CorpusCount.part))) == {None}
        assert connection.scalar(select(func.count()).where(CorpusCount.merges).select_from(CorpusCount)) == 2
        # No shard was sent before its states were there.
        assert set(connection.scalars(select(Shard.attempts))) == {1}
    assert "CorpusStatisticsMissing" not in "".join(map(cluster.log, cluster.processes))


@pytest.mark.few(1)
@pytest.mark.parametrize("merges", [False, True], ids=["counting", "merging"])
def test_a_pool_process_is_killed_in_the_middle(cluster: Cluster, undisturbed: Scores, merges: bool) -> None:
    cluster.start("scheduler", "scheduler")
    worker = cluster.start_worker()
    job = queue(cluster)
    victims = until(lambda: slow(cluster, merges=merges), "a running count")
    assert not cluster.done(), "no shard may be done before"
    for child in children(worker.pid):
        os.kill(child, signal.SIGKILL)
    check(cluster, job, undisturbed)
    assert attempts(cluster, victims) > 1, "the kill hit no running count"
    # The main process released it: the lease is three minutes long.
    assert "is reclaimed" not in cluster.log("scheduler")


@pytest.mark.long
@pytest.mark.parametrize("merges", [False, True], ids=["counting", "merging"])
def test_a_whole_worker_is_killed_in_the_middle(cluster: Cluster, undisturbed: Scores, merges: bool) -> None:
    cluster.start("scheduler", "scheduler")
    cluster.start_worker()
    job = queue(cluster)
    victims = until(lambda: slow(cluster, merges=merges), "a running count")
    cluster.kill("worker")
    assert set(victims) & set(slow(cluster, merges=merges)), "the kill hit no running count"
    cluster.start_worker("second")
    check(cluster, job, undisturbed)
    assert attempts(cluster, victims) > 1
    assert "stopped responding" in cluster.log("scheduler")


@pytest.mark.long
def test_all_messages_are_lost(cluster: Cluster, undisturbed: Scores) -> None:
    import redis

    job = queue(cluster)
    cluster.start("scheduler", "scheduler")
    worker = cluster.start_worker()
    until(lambda: slow(cluster, merges=False), "a running count")
    worker.send_signal(signal.SIGSTOP)
    with redis.Redis.from_url(cluster.environment["STEELYARD_BROKER_URL"]) as client:
        lost = until(lambda: client.llen(QueueClass.CAMPAIGN.queue_of(EDITION)), "messages at the broker")
        client.flushdb()
    assert not cluster.done()
    worker.send_signal(signal.SIGCONT)
    assert lost > 0
    check(cluster, job, undisturbed)


def test_every_message_is_delivered_twice(cluster: Cluster, undisturbed: Scores, tmp_path: Path) -> None:
    sent = tmp_path / "sent"
    cluster.start("scheduler", "twice", str(sent))
    cluster.start_worker()
    job = queue(cluster)
    check(cluster, job, undisturbed)
    assert sum(line.startswith("prepare ") for line in sent.read_text().splitlines()) >= 16
    with reading(cluster.engine) as connection:
        assert set(connection.scalars(select(CorpusCount.attempts))) == {1}
