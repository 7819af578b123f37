"""Which blocks of which metrics are not measured, against their definition."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, delete, insert, select

from models.corpus.protocols import ProtocolContent
from models.database.session import make_engine, reading, writing
from models.queue.missing_blocks import (
    all_blocks,
    delete_overlapping_statistics,
    delete_statistics,
    find_missing_blocks,
)
from models.schema.base import BLOCK_SEGMENTS
from models.schema.results import ReplicatePart, Statistics
from tests.scheduler.jobs import one_block_shards, queue_job

BLOCKS, METRICS = 6, 3
PROTOCOL = ProtocolContent(1, BLOCKS * BLOCK_SEGMENTS - 3, False, (), ("a", "b", "c"), 0, 1)
PARTS = st.sets(st.integers(0, BLOCKS)).map(lambda cuts: list(pairwise(sorted(cuts | {0, BLOCKS}))))


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Engine:
    """Two evaluations, 1 and 2."""
    copy = shutil.copy(sqlite_template, tmp_path_factory.mktemp("blocks") / "steelyard.db")
    url = f"sqlite:///{copy}"
    engine = make_engine(url)
    queue_job(engine, one_block_shards(url), segments=100, systems=2)
    return engine


def store(engine: Engine, parts: list[tuple[int, int, int, int]]) -> None:
    """Statistics of nothing but these: evaluation, metric, first block, last."""
    with writing(engine) as connection:
        connection.execute(delete(Statistics))
        for evaluation, metric, first, last in parts:
            row = {"evaluation_id": evaluation, "metric": metric, "first_block": first, "last_block": last}
            connection.execute(insert(Statistics).values(**row, blob=b""))


@settings(max_examples=60)
@given(
    st.lists(PARTS, min_size=2 * METRICS, max_size=2 * METRICS),
    st.sets(st.tuples(st.integers(0, 2 * METRICS - 1), st.integers(0, BLOCKS))),
)
def test_each_block_of_each_metric_is_stored_or_missing(
    engine: Engine, parts: list[list[tuple[int, int]]], without: set[tuple[int, int]]
) -> None:
    stored = [
        (1 + number // METRICS, number % METRICS, first, last)
        for number, ranges in enumerate(parts)
        for first, last in ranges
        if (number, first) not in without
    ]
    store(engine, stored)
    with reading(engine) as connection:
        found = find_missing_blocks(connection, PROTOCOL, [1, 2])
    assert set(found) == {1, 2}
    for evaluation, missing in found.items():
        assert all(missing)
        assert all(missing.values())
        for metric in range(METRICS):
            there = {b for e, m, first, last in stored if (e, m) == (evaluation, metric) for b in range(first, last)}
            gaps = [ranges for ranges, metrics in missing.items() if metric in metrics]
            assert len(gaps) <= 1
            absent = [block for ranges in gaps for first, last in ranges for block in range(first, last)]
            assert sorted(absent) == absent == sorted(set(range(BLOCKS)) - there)
            # Neighbours are one range.
            assert all(one[1] < other[0] for ranges in gaps for one, other in pairwise(ranges))


def test_only_the_evaluations_that_were_asked_for(engine: Engine) -> None:
    store(engine, [(2, metric, 0, BLOCKS) for metric in range(METRICS)])
    with reading(engine) as connection:
        assert find_missing_blocks(connection, PROTOCOL, [1]) == {1: {((0, BLOCKS),): (0, 1, 2)}}
        assert find_missing_blocks(connection, PROTOCOL, [2]) == {2: {}}


@pytest.mark.parametrize(("segments", "blocks"), [(1, 1), (BLOCK_SEGMENTS, 1), (BLOCK_SEGMENTS + 1, 2)])
def test_the_last_block_may_be_short(segments: int, blocks: int) -> None:
    assert all_blocks(ProtocolContent(1, segments, False, (), (), 0, 1)) == ((0, blocks),)


@settings(max_examples=40)
@given(st.sets(st.tuples(st.integers(1, 2), st.integers(0, 1), st.integers(0, 4), st.integers(1, 3)), max_size=8))
def test_what_overlaps_goes_and_nothing_else(engine: Engine, drawn: set[tuple[int, int, int, int]]) -> None:
    # One row for each first block, as the key has it.
    rows = {(e, m, first): (e, m, first, first + length) for e, m, first, length in sorted(drawn)}
    stored = list(rows.values())
    store(engine, stored)
    with writing(engine) as connection:
        delete_overlapping_statistics(connection, [1])
        columns = Statistics.evaluation_id, Statistics.metric, Statistics.first_block, Statistics.last_block
        left = {tuple(row) for row in connection.execute(select(*columns))}

    def overlaps(one: tuple[int, int, int, int]) -> bool:
        its = [other for other in stored if other != one and other[:2] == one[:2]]
        return any(other[2] < one[3] and other[3] > one[2] for other in its)

    assert left == {one for one in stored if one[0] == 2 or not overlaps(one)}


def test_all_results_of_some_evaluations_are_deleted(engine: Engine) -> None:
    store(engine, [(1, 0, 0, 1), (2, 0, 0, 1)])
    with writing(engine) as connection:
        for evaluation in (1, 2):
            row = {"evaluation_id": evaluation, "metric": 0, "first_block": 0, "last_block": 1, "blob": b""}
            connection.execute(insert(ReplicatePart).values(**row))
        delete_statistics(connection, [1])
        for table in (Statistics, ReplicatePart):
            assert list(connection.scalars(select(table.evaluation_id))) == [2]
        connection.execute(delete(ReplicatePart))
