"""Learned workers that are killed, frozen and told to stop, and two that want the same shard, on both databases."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from models.database.session import reading, writing
from models.queue.kinds.learned_shards import LEARNED_SHARD
from models.queue_status.overview import read_overview
from models.schema.learned import LearnedColumn, LearnedShard
from models.schema.queue import Evaluation, Worker
from models.schema.results import Score
from models.schema.states import LeaseState
from scheduler.loop import SchedulerLoop
from steelyard.metrics.metric import EDITION as OURS
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from tests.faults.cluster import Cluster, until
from tests.faults.program import EDITION, VERSION
from tests.scheduler.jobs import one_block_shards, queue_job, similar_text, some_text, work_off
from worker.context import WorkerContext
from worker.handlers import do
from worker.learned.running import LOOK_SECONDS

pytestmark = pytest.mark.faults

SEGMENTS, SYSTEMS, SEED = 500, 2, 5
PAUSE = "patient:pause=0.1"
ON_POSTGRES = pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
"""For what processes do: claims and leases, which differ with the database, are tried on both by the others."""
SETTINGS = {
    "silent_seconds": 2.0,
    "sweep_seconds": 0.2,
    "beat_seconds": 0.3,
    "retry_seconds": 0.1,
    "max_attempts": 20,
    "stop_seconds": 0.2,
    "learned_shard_tokens": 1,
}


class Nowhere:
    """A transport for a scheduler that only recovers what was lost: no worker of its own is there."""

    prefetches = False

    def send(self, message: Any) -> None:
        raise AssertionError(message)

    def count(self, classes: Any) -> dict[Any, int]:
        return dict.fromkeys(classes, 0)


@pytest.fixture
def cluster(tmp_path: Path, database_url: str) -> Iterator[Cluster]:
    """A job whose fast metric is done, and whose learned one waits."""
    with Cluster(tmp_path, database_url, "memory://localhost/", **SETTINGS) as cluster:
        settings = one_block_shards(database_url, learned_shard_tokens=1)
        queue_job(cluster.engine, settings, segments=SEGMENTS, systems=SYSTEMS, metrics=["wer", PAUSE], seed=SEED)
        work_off(settings)
        yield cluster


def sweeping(cluster: Cluster) -> None:
    SchedulerLoop(cluster.engine, Nowhere(), cluster.settings).run_once()


def finish(cluster: Cluster) -> None:
    """Wait until all columns are done, and see that no score differs from those of one process."""

    def done() -> bool:
        sweeping(cluster)
        with reading(cluster.engine) as connection:
            return set(connection.scalars(select(LearnedColumn.state))) == {"done"}

    until(done, "all columns")
    reference = some_text(SEGMENTS, SEED)
    outputs = [similar_text(reference, SEED * 1000 + number) for number in range(SYSTEMS)]
    whole = Segments(references=[reference], hypotheses=outputs)
    (expected,) = score_systems(whole, [parse_metric("patient")])
    with reading(cluster.engine) as connection:
        scores = select(Score.score).where(Score.metric == 1).order_by(Score.evaluation_id)
        assert list(connection.scalars(scores)) == expected.scores.tolist()
        assert set(connection.scalars(select(Evaluation.state))) == {"done"}


def running(cluster: Cluster, worker: str) -> list[Any]:
    """The shards that a process works on, with some contents scored."""
    with reading(cluster.engine) as connection:
        rows = connection.execute(
            select(LearnedShard).where(LearnedShard.state == LeaseState.RUNNING, LearnedShard.scored > 0)
        ).all()
    return [row for row in rows if f"-{cluster.processes[worker].pid}-" in row.worker]


def asked(cluster: Cluster) -> Counter[str]:
    """How often each content was scored."""
    return Counter(line.split()[1] for line in (cluster.folder / "asked.log").read_text().splitlines())


@pytest.mark.few(1)
def test_a_killed_worker_loses_little_and_another_goes_on(cluster: Cluster) -> None:
    cluster.start_worker("first", "learned")
    until(lambda: running(cluster, "first"), "a shard of which some is scored")
    cluster.kill("first")
    (interrupted,) = running(cluster, "first")
    cluster.start_worker("second", "learned")
    finish(cluster)
    with reading(cluster.engine) as connection:
        row = connection.execute(select(LearnedShard).where(LearnedShard.id == interrupted.id)).one()
    assert row.attempts == 2
    # What was stored was not asked again: at most one batch.
    again = sum(amount - 1 for amount in asked(cluster).values())
    assert again <= 16


@pytest.mark.thorough
@ON_POSTGRES
def test_a_frozen_worker_is_replaced_and_its_late_result_discarded(cluster: Cluster) -> None:
    cluster.start_worker("first", "learned")
    until(lambda: running(cluster, "first"), "a shard of which some is scored")
    cluster.freeze("first")
    (held,) = running(cluster, "first")
    cluster.start_worker("second", "learned")

    def taken() -> bool:
        sweeping(cluster)
        with reading(cluster.engine) as connection:
            row = connection.execute(select(LearnedShard).where(LearnedShard.id == held.id)).one()
        return row.owner != held.owner and row.attempts > held.attempts

    until(taken, "another owner")
    cluster.thaw("first")
    finish(cluster)
    until(lambda: "taken over" in cluster.log("first").lower() or "TakenOver" in cluster.log("first"), "the notice")


@pytest.mark.thorough
@ON_POSTGRES
def test_a_stopped_worker_releases_its_shard_at_once(cluster: Cluster) -> None:
    process = cluster.start_worker("first", "learned")
    until(lambda: running(cluster, "first"), "a shard of which some is scored")
    (held,) = running(cluster, "first")
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    with reading(cluster.engine) as connection:
        row = connection.execute(select(LearnedShard).where(LearnedShard.id == held.id)).one()
    assert (row.state, row.attempts, row.owner) == ("pending", 0, None)
    assert "1 tasks released" in cluster.log("first")
    cluster.start_worker("second", "learned")
    finish(cluster)


@pytest.mark.few(1)
def test_two_workers_share_the_shards_and_each_is_done_once(cluster: Cluster) -> None:
    for name in ("first", "second"):
        cluster.start_worker(name, "learned")
    finish(cluster)
    with reading(cluster.engine) as connection:
        shards = connection.execute(select(LearnedShard)).all()
    assert {(row.state, row.attempts) for row in shards} == {("done", 1)}
    workers = {line.split()[0] for line in (cluster.folder / "asked.log").read_text().splitlines()}
    assert len(workers) == 2


@pytest.mark.few(1)
def test_a_shard_delivered_twice_writes_once(cluster: Cluster) -> None:
    """The same shard is done by two holders of leases, of which the first was given up too early."""
    context = WorkerContext(cluster.settings)
    cluster.start_worker("first", "learned")
    until(lambda: running(cluster, "first"), "a shard of which some is scored")
    (held,) = running(cluster, "first")
    with writing(cluster.engine) as connection:
        connection.execute(
            update(LearnedShard)
            .where(LearnedShard.id == held.id)
            .values(state=LeaseState.PENDING, owner=None, lease_until=None)
        )
    for _ in range(2):
        do(context, LEARNED_SHARD, held.id, "again")
    context.close()
    finish(cluster)
    with reading(cluster.engine) as connection:
        columns = connection.execute(select(LearnedColumn)).all()
    assert {row.remaining for row in columns} == {0}


@ON_POSTGRES
def test_a_worker_without_the_model_leaves_its_shards_and_status_says_so(cluster: Cluster) -> None:
    cluster.start_worker("first", "learned", STEELYARD_TEST_MISSING="1")

    def known() -> bool:
        with reading(cluster.engine) as connection:
            (work,) = read_overview(connection, silent_seconds=60.0).learned
        return (work.metric, work.running, work.workers) == (PAUSE, 0, 0)

    until(known, "what the worker says")
    cluster.start_worker("second", "learned")
    finish(cluster)
    workers = {line.split()[0] for line in (cluster.folder / "asked.log").read_text().splitlines()}
    assert workers == {str(cluster.processes["second"].pid)}


@ON_POSTGRES
def test_a_worker_of_an_older_edition_leaves_what_it_would_measure_otherwise(cluster: Cluster) -> None:
    """While a release with other numbers is rolled out."""
    cluster.start_worker("old", "learned", **{VERSION: "0.0.9", EDITION: str(OURS - 1)})

    def beats() -> float:
        with reading(cluster.engine) as connection:
            worker = select(Worker.beat_at).where(Worker.version == "0.0.9")
            return connection.scalar(worker) or 0.0

    until(beats, "the old worker")
    first = beats()
    # It has looked several times since.
    until(lambda: beats() > first + 2 * LOOK_SECONDS, "a worker that goes on")
    with reading(cluster.engine) as connection:
        shards = connection.execute(select(LearnedShard)).all()
    assert {(row.state, row.attempts, row.edition) for row in shards} == {("pending", 0, OURS)}
    cluster.start_worker("new", "learned")
    finish(cluster)
    workers = {line.split()[0] for line in (cluster.folder / "asked.log").read_text().splitlines()}
    assert workers == {str(cluster.processes["new"].pid)}
    assert cluster.processes["old"].poll() is None
