"""Stored randomization tests as the results that boards, tables and reports take."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import pytest
from sqlalchemy import Engine

from analysis.leaderboard.board import Board, read_board
from analysis.leaderboard.randomization import randomization_pairs, stored_randomizations
from analysis.leaderboard.significance import bootstrap_pairs
from models.database.session import make_engine, reading
from models.results.boards import list_boards
from scheduler.enqueue.randomization import request_comparison
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from steelyard.resampling.paired import paired_randomization
from tests.scheduler.jobs import one_block_shards, queue_job, similar_text, some_text, work_off

METRICS = ("bleu", "wer")
TRIALS = 500


@pytest.fixture
def engine(sqlite_url: str) -> Iterator[Engine]:
    engine = make_engine(sqlite_url)
    settings = one_block_shards(sqlite_url)
    queue_job(engine, settings, segments=200, systems=4, metrics=METRICS, runs={0: 2})
    work_off(settings)
    yield engine
    engine.dispose()


def board_of(engine: Engine) -> Board:
    with reading(engine) as connection:
        board = read_board(connection, list_boards(connection)[0], 0.9)
    assert board is not None
    return board


def test_they_are_those_of_texts_measured_here(engine: Engine, sqlite_url: str) -> None:
    """From texts to p-values without a database: the same bits, for systems with one run and with two."""
    board = board_of(engine)
    rows = [row.evaluations for row in board.rows]
    settings = one_block_shards(sqlite_url, at_once_seconds=1e9)
    asked = request_comparison(
        engine, settings, board.listed.protocol_id, list(combinations(rows, 2)), [0, 1], trials=TRIALS, seed=3
    )
    assert asked is None
    reference = some_text(200, 1)
    runs = [row.runs for row in board.rows]
    texts = {row.system: [similar_text(reference, 1000 + int(row.system[-1]))] for row in board.rows}
    texts["system0"].append(similar_text(reference, 1000 + 500))
    assert sorted(map(len, runs)) == [1, 1, 1, 2]
    outputs = [text for row in board.rows for text in texts[row.system]]
    measured = score_systems(
        Segments(references=[reference], hypotheses=outputs),
        [parse_metric(each) for each in METRICS],
        replicates=50,
        seed=12345,
        keep_statistics=True,
    )
    expected = paired_randomization(
        measured, baseline=None, trials=TRIALS, seed=3, runs=[len(each) for each in runs], correction="bh", level=0.9
    )
    with reading(engine) as connection:
        found = [
            pair
            for metric in (0, 1)
            for pair in randomization_pairs(connection, board, metric, correction="bh", trials=TRIALS, seed=3)
        ]
        assert len(found) == 12
        for one, other in zip(found, expected, strict=True):
            assert (one.a, one.b, one.metric) == (other.a, other.b, other.metric)
            assert (one.difference, one.p, one.p_corrected) == (other.difference, other.p, other.p_corrected)
            assert one.interval == pytest.approx(other.interval)
        # With the bootstrap's differences and intervals.
        for one, other in zip(found[:6], bootstrap_pairs(board, 0, correction="bh"), strict=True):
            assert (one.a, one.b, one.difference, one.interval) == (other.a, other.b, other.difference, other.interval)
        baseline = randomization_pairs(connection, board, 0, baseline=1, intervals=False, trials=TRIALS, seed=3)
        assert [(pair.a, pair.b) for pair in baseline] == [(1, 0), (1, 2), (1, 3)]
        p = {frozenset((pair.a, pair.b)): pair.p for pair in found[:6]}
        assert [pair.p for pair in baseline] == [p[frozenset((pair.a, pair.b))] for pair in baseline]
        assert [pair.interval for pair in baseline] == [None] * 3


def test_either_order_of_sides_is_found_and_what_is_not_stored_is_left_out(engine: Engine, sqlite_url: str) -> None:
    board = board_of(engine)
    a, b, c, d = (row.evaluations for row in board.rows)
    settings = one_block_shards(sqlite_url, at_once_seconds=1e9)
    request_comparison(engine, settings, board.listed.protocol_id, [(a, b), (d, c)], [0], trials=TRIALS, seed=3)
    with reading(engine) as connection:
        found = stored_randomizations(connection, [d, c, b, a], 0, trials=TRIALS, seed=3)
        assert set(found) == {(a, b), (b, a), (c, d), (d, c)}
        assert found[a, b] == (-found[b, a][0], found[b, a][1])
        pairs = randomization_pairs(connection, board, 0, trials=TRIALS, seed=3)
        assert [(pair.a, pair.b) for pair in pairs] == [(0, 1), (2, 3)]
        assert [pair.difference for pair in pairs] == [found[a, b][0], found[c, d][0]]
        unscored = replace(board, rows=[replace(board.rows[0], scores=()), *board.rows[1:]])
        pairs = randomization_pairs(connection, unscored, 0, trials=TRIALS, seed=3)
        assert [(pair.a, pair.b) for pair in pairs] == [(2, 3)], "the score of one is gone"
        assert randomization_pairs(connection, board, 1, trials=TRIALS, seed=3) == []
        assert randomization_pairs(connection, board, 0, trials=TRIALS, seed=4) == []


def test_identical_outputs_have_p_one(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    settings = one_block_shards(sqlite_url, at_once_seconds=1e9)
    reference = some_text(50, 1)
    output = similar_text(reference, 2)
    ingest_campaign(
        engine,
        settings,
        campaign="twins",
        test_set=NewTestSet("twins", {"A": reference}),
        submissions=[NewSubmission("one", output), NewSubmission("two", output)],
        protocols=[NewProtocol(["A"], [parse_metric("bleu")], 0)],
    )
    work_off(settings)
    board = board_of(engine)
    request_comparison(
        engine, settings, board.listed.protocol_id, [tuple(row.evaluations for row in board.rows)], [0], seed=1
    )
    with reading(engine) as connection:
        (pair,) = randomization_pairs(connection, board, 0, seed=1)
    assert (pair.difference, pair.p, pair.p_corrected, pair.interval) == (0.0, 1.0, 1.0, None)
    engine.dispose()
