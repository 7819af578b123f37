"""The segments that drive a difference: against measuring the test set without each of them."""

from dataclasses import replace

import pytest

from analysis.breakdown.influential_segments import read_influential_segments
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from tests.analysis.campaigns import REFERENCES, SYSTEMS, joined, opened, store

BOTH = ("bleu:order=1,2", "ter")


def difference(metric: str, first: str, second: str, without: int | None = None) -> float:
    """Score of the second minus that of the first, from the texts."""

    def kept(lines: list[str]) -> bytes:
        return joined([line for number, line in enumerate(lines) if number != without])

    (found,) = score_systems(
        Segments(
            references=[kept(lines) for lines in REFERENCES.values()],
            hypotheses=[kept(SYSTEMS[name]) for name in (first, second)],
        ),
        [parse_metric(metric)],
    )
    return float(found.scores[1] - found.scores[0])


@pytest.mark.parametrize("metric", [0, 1])
def test_influence_is_the_difference_that_a_segment_makes(database_url, metric):
    store(database_url)
    with opened(database_url) as (connection, (board,)):
        first, second = board.rows[0].system, board.rows[1].system
        found = read_influential_segments(connection, board, metric, 0, 1, 5)
    whole = difference(BOTH[metric], first, second)
    assert found.difference == whole
    influences = {n: whole - difference(BOTH[metric], first, second, n) for n in range(5)}
    shown = {each.segment: each.influence for each in (*found.for_first, *found.for_second)}
    assert shown == {n: value for n, value in influences.items() if value}
    sign = 1 if metric == 0 else -1
    for side, found_for in ((-sign, found.for_first), (sign, found.for_second)):
        strengths = [side * each.influence for each in found_for]
        assert all(strength > 0 for strength in strengths)
        assert strengths == sorted(strengths, reverse=True)


def test_single_segments_have_their_own_scores(sqlite_url):
    store(sqlite_url)
    with opened(sqlite_url) as (connection, (board,)):
        found = read_influential_segments(connection, board, 0, 0, 1, 5)
    metric = parse_metric(BOTH[0])
    (expected,) = score_systems(
        Segments(
            references=[joined(lines) for lines in REFERENCES.values()],
            hypotheses=[joined(SYSTEMS[row.system]) for row in board.rows[:2]],
        ),
        [metric],
        segment_scores=True,
    )
    for each in (*found.for_first, *found.for_second):
        assert [each.first, each.second] == expected.segment_scores[:, each.segment].tolist()


def test_at_most_so_many_are_returned(sqlite_url):
    store(sqlite_url)
    with opened(sqlite_url) as (connection, (board,)):
        everything = read_influential_segments(connection, board, 0, 0, 2, 5)
        one = read_influential_segments(connection, board, 0, 0, 2, 1)
    assert (one.for_first, one.for_second) == (everything.for_first[:1], everything.for_second[:1])


def test_equal_outputs_have_no_drivers(sqlite_url):
    store(sqlite_url, systems={**SYSTEMS, "copy": SYSTEMS["tug"]})
    with opened(sqlite_url) as (connection, (board,)):
        places = [number for number, row in enumerate(board.rows) if row.system in {"tug", "copy"}]
        found = read_influential_segments(connection, board, 0, *places, 5)
    assert (found.difference, found.for_first, found.for_second, found.identical) == (0.0, (), (), 5)


def test_systems_without_a_score_have_none(sqlite_url):
    store(sqlite_url, scored=False)
    with opened(sqlite_url) as (connection, (board,)):
        assert read_influential_segments(connection, board, 0, 0, 1, 5) is None


@pytest.mark.parametrize("missing", [0, 1])
def test_one_without_a_score_is_enough(sqlite_url, missing):
    store(sqlite_url)
    with opened(sqlite_url) as (connection, (board,)):
        rows = [replace(row, scores=()) if place == missing else row for place, row in enumerate(board.rows)]
        assert read_influential_segments(connection, replace(board, rows=rows), 0, 0, 1, 5) is None
        gone = replace(board, listed=replace(board.listed, metrics=("gone", "ter")))
        assert read_influential_segments(connection, gone, 0, 0, 1, 5) is None


def test_several_runs_count_by_their_mean(sqlite_url):
    store(sqlite_url, systems={"a": SYSTEMS["tug"], "b@1": SYSTEMS["barge"], "b@2": SYSTEMS["raft"]})
    with opened(sqlite_url) as (connection, (board,)):
        found = read_influential_segments(connection, board, 0, 0, 1, 5)
        assert [row.system for row in board.rows] == ["a", "b"]
    parts = [difference(BOTH[0], "tug", name) for name in ("barge", "raft")]
    assert found.difference == pytest.approx(sum(parts) / 2)
    each = found.for_first[0]
    without = [difference(BOTH[0], "tug", name, each.segment) for name in ("barge", "raft")]
    assert each.influence == pytest.approx(sum(parts) / 2 - sum(without) / 2)
