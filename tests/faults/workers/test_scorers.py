"""Models and a registered program on learned workers that are killed, frozen and given a shard twice: the same bits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, select, update

from models.database.session import make_engine, reading, writing
from models.queue.kinds.learned_shards import LEARNED_SHARD
from models.schema.learned import LearnedColumn, LearnedShard
from models.schema.states import LeaseState
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from scheduler.loop import SchedulerLoop
from steelyard.metrics.programs.registration import RegisteredProgram, register_program
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.resolution import resolve
from steelyard.metrics.resources import Resources
from steelyard.metrics.run_context import RunContext
from tests.faults.cluster import Cluster, stored_scores, until
from tests.faults.program import SLOW
from tests.faults.workers.test_learned import SETTINGS, Nowhere, running
from tests.library.metrics.learned.with_extra import GOLDEN, needs_extra
from tests.scheduler.jobs import one_block_shards, similar_text, some_text, work_off
from tests.worker.learned.test_columns import learn
from worker.context import WorkerContext
from worker.handlers import do

pytestmark = pytest.mark.faults

SEGMENTS = 600
SOURCE, REFERENCE = some_text(SEGMENTS, 6), some_text(SEGMENTS, 7)
OUTPUTS = [similar_text(REFERENCE, number) for number in (71, 72)]
LENGTH = """
BEGIN { system("sleep 0.1") }
{ match($0, /"id": "[0-9]+"/); id = substr($0, RSTART, RLENGTH); gsub(/"id": "[0-9]+"/, ""); said = length($0) }
{ print "{" id ", \\"score\\": " said "}" }
"""


@pytest.fixture
def resources(tmp_path: Path) -> Resources:
    found = Resources(tmp_path / "resources")
    for folder in ("bertscore-bert", "comet-regression"):
        found.register(folder, "model", GOLDEN / folder)
    (tmp_path / "length.awk").write_text(LENGTH)
    command = ("awk", "-f", str(tmp_path / "length.awk"))
    register_program(found, RegisteredProgram("length", command, ("reference",), "1", batch=32))
    return found


@pytest.fixture
def cluster(tmp_path: Path, database_url: str, resources: Resources) -> Iterator[Cluster]:
    with Cluster(
        tmp_path, database_url, "memory://localhost/", **SETTINGS, resource_folder=resources.folder
    ) as cluster:
        yield cluster


def take_in(engine: Engine, metric: str, resources: Resources) -> WorkerContext:
    """A campaign whose fast metric is done; whoever does the rest in this process."""
    url = engine.url.render_as_string(hide_password=False)
    settings = one_block_shards(url, learned_shard_tokens=1, resource_folder=resources.folder)
    context = RunContext("en", frozenset(), resources)
    ingest_campaign(
        engine,
        settings,
        campaign="trial",
        test_set=NewTestSet("trial", {"A": REFERENCE}, source=SOURCE),
        submissions=[NewSubmission(f"system{number}", text) for number, text in enumerate(OUTPUTS)],
        protocols=[NewProtocol(["A"], resolve([parse_metric("wer"), parse_metric(metric)], context)[0], 10)],
    )
    work_off(settings)
    return WorkerContext(settings)


@pytest.mark.parametrize(
    "metric",
    [
        "program:run=length",
        pytest.param("bertscore:model=bertscore-bert:layer=1:idf=yes", marks=needs_extra),
        pytest.param("comet:model=comet-regression", marks=needs_extra),
    ],
)
def test_no_fault_changes_a_bit(cluster: Cluster, sqlite_url: str, resources: Resources, metric: str) -> None:
    context = take_in(cluster.engine, metric, resources)

    def sweep() -> None:
        SchedulerLoop(cluster.engine, Nowhere(), cluster.settings).run_once()

    def begin(worker: str) -> int:
        """Start a worker; the shard of which it has scored something."""
        cluster.start_worker(worker, "learned", **{SLOW: "0.1"})
        until(lambda: running(cluster, worker), "a shard of which some is scored")
        return running(cluster, worker)[0].id

    begin("killed")
    cluster.kill("killed")
    held = begin("frozen")
    cluster.freeze("frozen")
    # Its shard is given to another, who is quicker, and then once more.
    with writing(cluster.engine) as connection:
        connection.execute(
            update(LearnedShard)
            .where(LearnedShard.id == held)
            .values(state=LeaseState.PENDING, owner=None, lease_until=None)
        )
    for _ in range(2):
        do(context, LEARNED_SHARD, held, "again")
    context.close()
    cluster.thaw("frozen")
    cluster.start_worker("last", "learned")

    def done() -> bool:
        sweep()
        with reading(cluster.engine) as connection:
            return set(connection.scalars(select(LearnedColumn.state))) == {"done"}

    until(done, "all columns")
    with reading(cluster.engine) as connection:
        assert max(connection.scalars(select(LearnedShard.attempts))) >= 2
        assert set(connection.scalars(select(LearnedColumn.remaining))) == {0}
    calm = make_engine(sqlite_url, pooled=False)
    undisturbed = take_in(calm, metric, resources)
    learn(undisturbed)
    undisturbed.close()
    assert stored_scores(cluster.engine) == stored_scores(calm)
    assert {score is not None for _, score, _, _ in stored_scores(calm).values()} == {True}
