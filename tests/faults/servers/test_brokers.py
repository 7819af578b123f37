"""A broker that forgets, dies and starves, and one scheduler after the other; the processes are shared by all tests.

Messages are resent after a minute, so that nothing but a check of the queues can restore in time what was lost.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import func, select

from models.database.session import reading
from models.schema.queue import Evaluation, Reduction, Shard
from models.schema.states import LeaseState
from scheduler.ingest.campaigns import IngestResult
from tests.faults.campaigns import Job, Outcomes, outcomes, undisturbed
from tests.faults.cluster import Cluster, until
from tests.faults.servers.broker import Broker
from tests.servers import _database

pytestmark = pytest.mark.faults

PAUSE = ("troubled:pause=0.08", "bleu")
NAMES = ("emptied", "killed", "starved", "disorder", "usurped", "succeeded")
JOBS = {name: Job(seed, PAUSE, systems=2) for seed, name in enumerate(NAMES, 1)}
# Whenever one of its 36 shards is done, either of the two may send the next.
JOBS["usurped"] = replace(JOBS["usurped"], segments=256 * 35 + 7)
SETTINGS = {
    "concurrency": 2,
    "silent_seconds": 6.0,
    "sweep_seconds": 0.2,
    "beat_seconds": 0.3,
    "resend_seconds": 60.0,
    "empty_seconds": 0.5,
    "retry_seconds": 0.1,
    "smallest_window": 4,
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Outcomes:
    file = tmp_path_factory.mktemp("undisturbed") / "steelyard.db"
    file.write_bytes(sqlite_template.read_bytes())
    return undisturbed(f"sqlite:///{file}", JOBS.values())


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


@pytest.fixture(scope="module")
def cluster(
    tmp_path_factory: pytest.TempPathFactory, postgres_server: str, postgres_template: str, broker: Broker
) -> Iterator[Cluster]:
    for url in _database(postgres_server, postgres_template):
        with Cluster(tmp_path_factory.mktemp("cluster"), url, broker.url, **SETTINGS) as cluster:
            cluster.start("scheduler", "scheduler")
            cluster.start_worker()
            yield cluster


def check(cluster: Cluster, job: IngestResult, name: str, expected: Outcomes) -> None:
    cluster.wait(job.all_evaluations)
    campaign = f"campaign {JOBS[name].seed}"
    found = {key: outcome for key, outcome in outcomes(cluster.engine).items() if key[0] == campaign}
    assert found == {key: outcome for key, outcome in expected.items() if key[0] == campaign}
    assert {state for state, _ in found.values()} == {"done"}
    with reading(cluster.engine) as connection:
        assert set(connection.scalars(select(Evaluation.remaining))) == {0}
        # Everybody sees to it that nothing is done twice: there was no need.
        assert set(connection.scalars(select(Shard.attempts))) == {1}
        assert connection.scalar(select(func.count()).select_from(Reduction)) == connection.scalar(
            select(func.count(Evaluation.reduction_id.distinct()))
        )


@contextmanager
def frozen_with_messages(cluster: Cluster, broker: Broker) -> Iterator[int]:
    """Messages wait at the broker and nobody takes them, while a job is under way."""
    until(cluster.running, "a running shard")
    until(broker.messages, "messages at the broker")
    cluster.processes["worker"].send_signal(signal.SIGSTOP)
    yield until(broker.messages, "messages at the broker")
    cluster.processes["worker"].send_signal(signal.SIGCONT)


def test_it_is_emptied(cluster: Cluster, broker: Broker, expected: Outcomes) -> None:
    job = JOBS["emptied"].queue(cluster.engine)
    with frozen_with_messages(cluster, broker) as lost:
        broker.client.flushall()
    assert lost > 0
    check(cluster, job, "emptied", expected)
    assert "The broker has lost" in cluster.log("scheduler")


def test_it_is_killed_and_started_again(cluster: Cluster, broker: Broker, expected: Outcomes) -> None:
    said = cluster.log("scheduler").count("The broker has lost")
    job = JOBS["killed"].queue(cluster.engine)
    with frozen_with_messages(cluster, broker) as lost:
        broker.kill()
    assert lost > 0
    broker.start()
    check(cluster, job, "killed", expected)
    assert cluster.log("scheduler").count("The broker has lost") > said


@pytest.mark.thorough
def test_it_has_no_memory(cluster: Cluster, broker: Broker, expected: Outcomes) -> None:
    job = JOBS["starved"].queue(cluster.engine)
    until(cluster.running, "a running shard")
    before = {name: len(cluster.log(name)) for name in ("scheduler", "worker")}
    # The worker must connect again, and what it says then is refused, too.
    broker.kill()
    until(lambda: "Cannot connect" in cluster.log("worker")[before["worker"] :], "a worker that misses it")
    broker.start(starved=True)
    for name, length in before.items():

        def refused(name: str = name, length: int = length) -> bool:
            return "used memory > 'maxmemory'" in cluster.log(name)[length:]

        until(refused, f"trouble of the {name}")
    assert cluster.shards(LeaseState.PENDING), "it starved too late"
    broker.feed()
    check(cluster, job, "starved", expected)
    assert cluster.processes["worker"].poll() is None


@pytest.mark.thorough
def test_messages_come_twice_late_and_the_last_ones_first(cluster: Cluster, expected: Outcomes) -> None:
    sent = cluster.folder / "disorder"
    cluster.kill("scheduler")
    cluster.start("disorder", "disorder", str(sent))
    job = JOBS["disorder"].queue(cluster.engine)
    check(cluster, job, "disorder", expected)
    keys = [int(line.split()[1]) for line in sent.read_text().splitlines() if line.startswith("score_shard")]
    assert sorted(keys) != keys
    assert len(keys) >= 12
    cluster.kill("disorder")
    cluster.start("scheduler", "scheduler")


def test_two_schedulers_lead_at_once(cluster: Cluster, expected: Outcomes) -> None:
    sent = cluster.folder / "usurper"
    cluster.start("usurper", "usurper", str(sent))
    until(lambda: "The usurper leads" in cluster.log("usurper"), "the usurper")
    job = JOBS["usurped"].queue(cluster.engine)
    check(cluster, job, "usurped", expected)
    messages = [line for line in sent.read_text().splitlines() if line.startswith("score_shard")]
    assert 0 < len(messages) < 36, "one of them sent everything"
    assert len(set(messages)) == len(messages)
    cluster.kill("usurper")


def test_one_takes_over_when_the_other_is_killed(cluster: Cluster, expected: Outcomes) -> None:
    cluster.start("second", "scheduler")
    job = JOBS["succeeded"].queue(cluster.engine)
    until(cluster.running, "a running shard")
    cluster.kill("scheduler")
    waiting = cluster.shards(LeaseState.PENDING)
    assert waiting, "it was killed too late"
    until(lambda: cluster.shards(LeaseState.PENDING) < waiting, "messages of the other")
    cluster.start("scheduler", "scheduler")
    cluster.kill("second")
    assert cluster.shards(LeaseState.PENDING), "it was killed too late"
    check(cluster, job, "succeeded", expected)
