"""What a shard is estimated to take follows its text: long segments are paid for by who handed them in."""

from collections.abc import Iterator

import pytest
from sqlalchemy import select

from models.database.session import reading
from models.schema.queue import Shard, ShardEvaluation
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard import WER
from steelyard.metrics.registry import parse_metric
from tests.scheduler.jobs import one_block_shards, queue_job, some_text
from worker.context import WorkerContext

SEGMENTS = 600
LONG = b"a b " * 40_000


@pytest.fixture
def context(database_url: str) -> Iterator[WorkerContext]:
    context = WorkerContext(one_block_shards(database_url))
    yield context
    context.close()


def planned(context: WorkerContext, campaign: str, *texts: bytes) -> list[tuple[float, float]]:
    """The (cost, units) of the shards, one for each block, in which these texts are measured by WER and chrF."""
    job = ingest_campaign(
        context.engine,
        context.settings,
        campaign=campaign,
        test_set=NewTestSet("trial", {"A": some_text(SEGMENTS, 1)}),
        submissions=[NewSubmission(f"system{number}", text) for number, text in enumerate(texts)],
        protocols=[NewProtocol(["A"], [parse_metric("wer"), parse_metric("chrf")], 50)],
    )
    chosen = select(ShardEvaluation.shard_id).where(ShardEvaluation.evaluation_id.in_(job.all_evaluations))
    with reading(context.engine) as connection:
        rows = connection.execute(
            select(Shard.cost, Shard.units).where(Shard.id.in_(chosen)).order_by(Shard.first_block)
        )
        return [(row.cost, row.units) for row in rows]


def with_long_segments(text: bytes, *places: int) -> bytes:
    lines = text.split(b"\n")
    for place in places:
        lines[place] = LONG
    return b"\n".join(lines)


def test_long_segments_are_estimated_by_the_exponents_of_the_metrics(context: WorkerContext) -> None:
    text = some_text(SEGMENTS, 2)
    usual = planned(context, "usual", text)
    one = planned(context, "one", with_long_segments(text, 300))
    two = planned(context, "two", with_long_segments(some_text(SEGMENTS, 3), 300, 301))
    assert len(usual) == len(one) == len(two) == 3
    assert one[1][0] > WER().seconds(len(LONG)) > 100 * usual[1][0]
    assert two[1][0] == pytest.approx(2 * one[1][0], rel=0.05)
    # Nothing is learned from it, and the blocks beside it cost what they cost.
    assert [units > 0.0 for _, units in one] == [True, False, True]
    assert (one[0], one[2]) == (usual[0], usual[2])


def test_they_are_paid_for_where_they_are(context: WorkerContext) -> None:
    """Of two outputs that are measured together, too."""
    texts = [some_text(SEGMENTS, seed) for seed in (4, 5)]
    usual = planned(context, "usual", *texts)
    odd = planned(context, "odd", texts[0] + b" ", with_long_segments(texts[1], 2))
    assert odd[0][0] > WER().seconds(len(LONG))
    assert odd[1] == usual[1]


def test_work_is_cut_for_the_processes_that_do_it(context: WorkerContext) -> None:
    """Where a command brings its own, their number counts, and not that of the settings."""
    settings = context.settings.model_copy(update={"concurrency": 1})
    found = []
    for seed, processes in enumerate((None, 2, 4), start=1):
        job = queue_job(context.engine, settings, segments=1000, campaign=f"job {seed}", seed=seed, processes=processes)
        chosen = select(ShardEvaluation.shard_id).where(ShardEvaluation.evaluation_id.in_(job.all_evaluations))
        with reading(context.engine) as connection:
            found.append(len(connection.scalars(chosen.distinct()).all()))
    assert found == [1, 2, 4]
