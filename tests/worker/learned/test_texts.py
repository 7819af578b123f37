"""Which texts a learned shard reads: its blocks of source and references, and those that segments lack."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from sqlalchemy import select

from models.database.session import reading
from models.queue.kinds.learned_shards import LEARNED_SHARD
from models.schema.base import BLOCK_SEGMENTS
from models.schema.learned import LearnedShard
from models.schema.results import Score
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics import built_in
from steelyard.metrics.content_scores import Content, ContentMetric
from steelyard.metrics.preparation.score_store import Scored
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.resources import Resources
from worker.context import WorkerContext
from worker.handlers import do

SEGMENTS = BLOCK_SEGMENTS + 3


@dataclass(frozen=True)
class Reading(ContentMetric):
    """A number of the texts that it is given."""

    name: ClassVar[str] = "reading"
    source: ClassVar[str] = "made up"
    inputs: ClassVar[frozenset[str]] = frozenset({"source", "reference"})
    cost: ClassVar[float] = 1e5
    growth: ClassVar[float] = 1.0
    asked: ClassVar[list[Content]] = []

    def scorer(self, resources: Resources) -> str:
        return "reading 1"

    def score_contents(
        self, contents: Sequence[Content], resources: Resources, keep: Callable[[Mapping[int, Scored]], None]
    ) -> None:
        self.asked.extend(contents)
        keep({position: Scored((float(position),)) for position in range(len(contents))})


def lines(what: str, *, gaps: Sequence[int] = ()) -> bytes:
    return "\n".join("" if number in gaps else f"{what} {number}" for number in range(SEGMENTS)).encode()


@pytest.mark.parametrize("variable", [False, True])
@pytest.mark.parametrize("sourced", [False, True])
def test_a_shard_reads_its_blocks_of_all_that_the_metric_asks_for(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch, variable: bool, sourced: bool
) -> None:
    monkeypatch.setitem(built_in.LEARNED, "reading", f"{__name__}:Reading")
    wanted = frozenset({"source", "reference"} if sourced else {"reference"})
    monkeypatch.setattr(Reading, "inputs", wanted)
    Reading.asked.clear()
    missing = (1, BLOCK_SEGMENTS + 1)
    ingest_campaign(
        context.engine,
        context.settings,
        campaign="trial",
        test_set=NewTestSet(
            "trial",
            {"A": lines("a"), "B": lines("b", gaps=missing)},
            source=lines("s"),
            variable_references=variable,
        ),
        submissions=[NewSubmission("one", lines("o")), NewSubmission("two", lines("t"))],
        protocols=[NewProtocol(["B", "A"], [parse_metric("reading")], 5)],
    )
    with reading(context.engine) as connection:
        keys = list(connection.scalars(select(LearnedShard.id).order_by(LearnedShard.id.desc())))
    assert len(keys) == 2
    for key in keys:
        do(context, LEARNED_SHARD, key, "task")

    def content(output: str, number: int) -> tuple[Any, ...]:
        second = () if variable and number in missing else ("" if number in missing else f"b {number}",)
        return f"{output} {number}", f"s {number}" if sourced else None, (*second, f"a {number}")

    # The last block was scored first.
    order = [*range(BLOCK_SEGMENTS, SEGMENTS), *range(BLOCK_SEGMENTS)]
    found = [(each.hypothesis, each.source, each.references) for each in Reading.asked]
    expected = [content(output, number) for part in (order[:3], order[3:]) for output in "ot" for number in part]
    assert found == expected
    with reading(context.engine) as connection:
        signatures = set(connection.scalars(select(Score.signature)))
        scores = list(connection.scalars(select(Score.score).order_by(Score.evaluation_id)))
    assert len(signatures) == 1
    assert None not in scores
    assert scores[0] != scores[1]
