"""Metrics that read the source: it reaches them through the queue, and their statistics are known by it, too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlalchemy import func, select

from models.database.session import reading
from models.schema.base import BLOCK_SEGMENTS
from models.schema.corpus import Protocol
from models.schema.queue import Shard
from models.schema.results import Score
from scheduler.errors import BadIngest
from scheduler.ingest.campaigns import IngestResult, NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics import registry
from steelyard.metrics.metric import Metric
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from tests.scheduler.jobs import one_block_shards, similar_text, some_text, work_off
from worker.context import WorkerContext

SEGMENTS = 2 * BLOCK_SEGMENTS + 40
REFERENCE, SOURCE, OTHER = (some_text(SEGMENTS, seed) for seed in (1, 2, 3))
OUTPUT = similar_text(REFERENCE, 4)
METRICS = ("length_ratio", "wer")


@dataclass(frozen=True)
class LengthRatio(Metric):
    """Bytes of the hypothesis per byte of the source."""

    name: ClassVar[str] = "length_ratio"
    source: ClassVar[str] = "this test"
    inputs: ClassVar[frozenset[str]] = frozenset({"source"})

    @property
    def columns(self) -> tuple[str, ...]:
        return ("hypothesis", "source")

    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:
        assert segments.source is not None
        source = _lengths(segments.source)
        return np.array([np.stack([_lengths(text), source], axis=-1) for text in segments.hypotheses], float)

    def score(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(sums[..., 1] > 0, 100 * sums[..., 0] / sums[..., 1], np.nan)


def _lengths(text: bytes) -> NDArray[np.float64]:
    return np.array([len(line) for line in text.split(b"\n")], float)


@pytest.fixture(autouse=True)
def length_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.PLACES, "length_ratio", f"{__name__}:LengthRatio")


@pytest.fixture
def context(database_url: str) -> Iterator[WorkerContext]:
    context = WorkerContext(one_block_shards(database_url))
    yield context
    context.close()


def scored(context: WorkerContext, source: bytes | None, campaign: str = "port") -> tuple[IngestResult, dict[str, Any]]:
    """Two systems of a campaign, of which the second has the source as its output; the scores of both."""
    intake = ingest_campaign(
        context.engine,
        context.settings,
        campaign=campaign,
        test_set=NewTestSet(campaign, {"A": REFERENCE}, source=source),
        submissions=[NewSubmission("mast", OUTPUT), NewSubmission("copy", SOURCE)],
        protocols=[NewProtocol(["A"], [parse_metric(each) for each in METRICS], 5)],
    )
    work_off(context.settings)
    with reading(context.engine) as connection:
        rows = connection.execute(select(Score.evaluation_id, Score.specification, Score.score)).all()
    (evaluations,) = intake.evaluations
    scores = {(evaluation, specification): score for evaluation, specification, score in rows}
    return intake, {metric: [scores[evaluation, metric] for evaluation in evaluations] for metric in METRICS}


def shards(context: WorkerContext) -> int:
    with reading(context.engine) as connection:
        return int(connection.scalar(select(func.count()).select_from(Shard)) or 0)


def test_the_source_reaches_metrics_and_is_part_of_what_their_statistics_are_known_by(context: WorkerContext) -> None:
    _, found = scored(context, SOURCE)
    whole = Segments(references=[REFERENCE], hypotheses=[OUTPUT, SOURCE], source=SOURCE)
    expected = score_systems(whole, [parse_metric(each) for each in METRICS])
    assert found == {each: result.scores.tolist() for each, result in zip(METRICS, expected, strict=True)}
    assert found["length_ratio"][1] == 100.0
    first = shards(context)

    # The same outputs and references with another source: nothing of it is reused, all of the others is.
    intake, other = scored(context, OTHER, "starboard")
    assert intake.measured_before == ((1, 1),)
    assert shards(context) == 2 * first
    assert other["wer"] == found["wer"]
    of_other = Segments(references=[REFERENCE], hypotheses=[OUTPUT, SOURCE], source=OTHER)
    assert other["length_ratio"] == score_systems(of_other, [parse_metric("length_ratio")])[0].scores.tolist()
    assert other["length_ratio"] != found["length_ratio"]

    # The same source under another name: all is reused, and comes out as it was.
    intake, again = scored(context, SOURCE, "bow")
    assert intake.measured_before == ((2, 2),)
    assert shards(context) == 2 * first
    assert again == found


def test_a_test_set_without_a_source_is_refused_and_nothing_stored(context: WorkerContext) -> None:
    with pytest.raises(BadIngest, match="length_ratio reads the source, and the test set has none"):
        scored(context, None)
    with reading(context.engine) as connection:
        assert not connection.scalar(select(func.count()).select_from(Protocol))
