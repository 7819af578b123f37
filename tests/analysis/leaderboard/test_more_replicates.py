"""More draws than are stored, where a correction asks for them."""

from dataclasses import replace

import numpy as np
import pytest
from sqlalchemy import delete

from analysis.leaderboard.board import read_board
from analysis.leaderboard.more_replicates import draws_of_tests, with_enough_draws
from analysis.leaderboard.significance import bootstrap_pairs, ranked_by_bootstrap
from models.database.session import make_engine, reading, writing
from models.results.boards import list_boards
from models.schema.results import Statistics
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from steelyard.resampling.draws_needed import enough_draws, smallest_p
from tests.analysis.boards import made_board, spread, undefined
from tests.analysis.campaigns import REFERENCES, SYSTEMS, joined, store

METRICS = ("bleu:order=1,2", "ter", "chrf")
STORED = 30
"""Too few for the three pairs of three systems by Holm's correction: 3 / 31 is more than 0.05."""


@pytest.fixture
def engine(sqlite_url: str):
    return make_engine(sqlite_url)


def board_of(connection):
    (listed,) = list_boards(connection)
    return read_board(connection, listed, 0.95)


def test_the_draws_are_those_of_a_measurement_with_so_many_replicates(engine, sqlite_url: str) -> None:
    systems = {**SYSTEMS, "ferry@x": SYSTEMS["raft"], "ferry@y": SYSTEMS["barge"]}
    store(sqlite_url, systems=systems, metrics=METRICS, replicates=STORED, seed=7)
    with reading(engine) as connection:
        board = board_of(connection)
        more = with_enough_draws(connection, board, range(3), "holm")
    names = [name for name in systems if "@" not in name]
    expected = score_systems(
        Segments(
            references=[joined(lines) for lines in REFERENCES.values()],
            hypotheses=[joined(systems[name]) for name in systems],
        ),
        [parse_metric(each) for each in METRICS],
        replicates=more.draws,
        seed=7,
    )
    assert more.draws >= 1000
    for metric, found in enumerate(expected):
        of_row = dict(zip((row.system for row in more.rows), more.tested_replicates(metric), strict=True))
        for name in names:
            np.testing.assert_array_equal(of_row[name], found.replicate_scores[list(systems).index(name)])
        runs = found.replicate_scores[[list(systems).index(f"ferry@{run}") for run in "xy"]]
        np.testing.assert_array_equal(of_row["ferry"], runs.sum(axis=0) / 2)
        for row in board.rows:
            np.testing.assert_array_equal(of_row[row.system][:STORED], row.scores[metric].replicate_scores)


def test_a_correction_can_mark_what_so_few_replicates_could_not(engine, sqlite_url: str) -> None:
    store(sqlite_url, metrics=METRICS[:1], replicates=STORED, references={"A": REFERENCES["A"]}, selections=[["A"]])
    with reading(engine) as connection:
        board = board_of(connection)
        more = with_enough_draws(connection, board, [0], "holm")
    before, after = bootstrap_pairs(board, 0, correction="holm"), bootstrap_pairs(more, 0, correction="holm")
    least = smallest_p(STORED, 3, "holm")
    assert min(pair.p_corrected for pair in before) >= least > 0.05
    assert min(pair.p_corrected for pair in after) < least
    assert [pair.interval for pair in after] == [pair.interval for pair in before], "intervals stay what they are"
    assert "too few" in ranked_by_bootstrap(board, correction="holm").ranking.fault
    ranked = ranked_by_bootstrap(more, correction="holm").ranking
    assert (ranked.draws, "too few" in ranked.fault) == (more.draws, False)


def test_autorank_keeps_its_replicates_and_the_others_get_more(engine, sqlite_url: str) -> None:
    store(sqlite_url, metrics=("bleu:order=1,2", "chrf", "autorank:rule=wmt25:of=1,2"), replicates=STORED)
    with reading(engine) as connection:
        board = board_of(connection)
        more = with_enough_draws(connection, board, range(3), "holm")
    assert [more.tested_replicates(metric).shape[1] for metric in range(3)] == [more.draws, more.draws, STORED]
    assert more.draws > STORED
    assert not np.isnan(more.tested_replicates(2)).any()
    np.testing.assert_array_equal(more.tested_replicates(2), board.tested_replicates(2))


def test_without_need_nothing_is_drawn(engine, sqlite_url: str) -> None:
    store(sqlite_url, replicates=STORED)
    with reading(engine) as connection:
        board = board_of(connection)
        assert with_enough_draws(connection, board, range(2), "none") is board
        assert with_enough_draws(connection, board, range(2), "bh") is board
        assert draws_of_tests(board, "holm", alpha=0.2) == STORED
        assert draws_of_tests(board, "holm", baseline=0, alpha=0.07) == STORED, "two pairs, not three"
        assert with_enough_draws(connection, board, range(2), "holm", alpha=0.2) is board
        assert with_enough_draws(connection, board, range(2), "holm", baseline=0, alpha=0.07) is board


def test_the_metric_with_the_most_scores_says_how_many_draws_are_needed() -> None:
    """By TER all four systems have a score, by BLEU two: six pairs and one."""
    board = made_board(
        [[spread(30.0, 100, 1.0, n) if n < 2 else undefined(100), spread(9.0, 100, 1.0, n)] for n in range(4)]
    )
    assert draws_of_tests(board, "holm", alpha=0.05) == enough_draws(100, 6, "holm", 0.05) > 100
    assert draws_of_tests(board, "holm", alpha=0.05, draws=200) == 200


def test_a_system_without_scores_stands_among_the_others(engine, sqlite_url: str, monkeypatch) -> None:
    """And the sums of one output at a time are held in memory."""
    monkeypatch.setattr("analysis.leaderboard.more_replicates.SUMS_BYTES", 1)
    store(sqlite_url, metrics=METRICS[:1], replicates=STORED)
    with reading(engine) as connection:
        board = board_of(connection)
        waiting = replace(board, rows=[replace(board.rows[0], scores=()), *board.rows[1:]])
        # One pair is left, which Holm's correction leaves as it is: another level asks for more draws.
        more = with_enough_draws(connection, waiting, [0], "holm", alpha=0.01)
        (whole,) = [with_enough_draws(connection, board, [0], "holm", alpha=0.01).tested_replicates(0)]
    assert more.draws >= 1000
    found = more.tested_replicates(0)
    assert np.isnan(found[0]).all()
    np.testing.assert_array_equal(found[1:], whole[1:, : more.draws])


def test_where_a_metric_is_not_installed_any_more_the_board_stays_as_it_is(engine, sqlite_url: str) -> None:
    store(sqlite_url, replicates=STORED)
    with reading(engine) as connection:
        board = board_of(connection)
        rows = [
            replace(row, scores=tuple(replace(score, specification="gone") for score in row.scores))
            for row in board.rows
        ]
        gone = replace(board, rows=rows)
        assert with_enough_draws(connection, gone, range(2), "holm") is gone


def test_where_the_statistics_are_gone_the_board_stays_as_it_is(engine, sqlite_url: str) -> None:
    store(sqlite_url, replicates=STORED)
    with writing(engine) as connection:
        connection.execute(delete(Statistics))
    with reading(engine) as connection:
        board = board_of(connection)
        assert with_enough_draws(connection, board, range(2), "holm") is board
