"""Learned shards are cut by tokens, which are estimated from bytes: each different text counts once."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from models.database.session import reading
from models.schema.base import BLOCK_SEGMENTS
from models.schema.learned import LearnedShard
from scheduler.enqueue.learned import BYTES_OF_A_TOKEN
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric
from tests.worker.learned_metric import Vowels
from worker.context import WorkerContext

LINE = b"seventy-nine bytes and a line feed are twenty tokens by the rule that holds now"
BLOCKS = 6
TEXT_TOKENS = BLOCK_SEGMENTS * (len(LINE) + 1) / BYTES_OF_A_TOKEN
"""Of a block of one text."""


def cut(context: WorkerContext, tokens: float, outputs: int = 1, *, alike: bool = False) -> list[tuple[int, int]]:
    """The shards of outputs beside one reference and a source."""

    def text(first: bytes) -> bytes:
        return b"\n".join([first + LINE[1:]] * (BLOCKS * BLOCK_SEGMENTS))

    settings = context.settings.model_copy(update={"learned_shard_tokens": int(tokens)})
    ingest_campaign(
        context.engine,
        settings,
        campaign="c",
        test_set=NewTestSet("t", {"A": text(b"r")}, source=text(b"s")),
        submissions=[NewSubmission(f"s{each}", text(b"o" if alike else b"%d" % each)) for each in range(outputs)],
        protocols=[NewProtocol(["A"], [parse_metric("vowels")], 0)],
    )
    with reading(context.engine) as connection:
        rows = connection.execute(
            select(LearnedShard.first_block, LearnedShard.last_block).order_by(LearnedShard.first_block)
        )
        return [(row.first_block, row.last_block) for row in rows]


@pytest.mark.parametrize(("outputs", "texts"), [(1, 2), (3, 4)])
def test_shards_hold_so_many_tokens_of_outputs_and_references(context: WorkerContext, outputs: int, texts: int) -> None:
    """The source counts for nothing, since the metric does not read it."""
    assert cut(context, 2 * texts * TEXT_TOKENS, outputs) == [(0, 2), (2, 4), (4, 6)]


def test_a_little_less_room_is_a_block_less(context: WorkerContext) -> None:
    assert cut(context, 2 * 2 * TEXT_TOKENS - 10) == [(each, each + 1) for each in range(BLOCKS)]


def test_equal_outputs_count_once(context: WorkerContext) -> None:
    assert cut(context, 3 * 2 * TEXT_TOKENS, 5, alike=True) == [(0, 3), (3, 6)]


def test_the_source_counts_where_it_is_read(context: WorkerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Vowels, "inputs", frozenset({"source", "reference"}))
    assert cut(context, 2 * 3 * TEXT_TOKENS) == [(0, 2), (2, 4), (4, 6)]


def test_an_answer_counts_as_more_tokens(context: WorkerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Vowels, "extra_tokens", 60)
    assert cut(context, 3 * (2 * TEXT_TOKENS + 60 * BLOCK_SEGMENTS)) == [(0, 3), (3, 6)]
