"""Pairs and places of boards: against one by one, with what is missing and undefined, and as more systems come."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.leaderboard.significance import (
    bootstrap_pairs,
    ranked_by_bootstrap,
)
from steelyard.ranking.clusters import rank_systems
from steelyard.resampling.bootstrap_p import bootstrap_p
from steelyard.resampling.correction import corrected
from steelyard.resampling.interval import percentile_interval
from steelyard_client.vocabulary import compared_to_leaderboard
from tests.analysis.boards import made_board, spread, undefined

N = 200


@pytest.fixture
def board():
    """a and b far above c and d, which are alike; e waits, f is undefined by BLEU."""
    return made_board(
        [
            [spread(40.0, N, 0.5, 1), spread(30.0, N, 0.5, 11)],
            [spread(39.8, N, 0.5, 2), spread(34.0, N, 0.5, 12)],
            [spread(30.0, N, 0.5, 3), spread(38.0, N, 0.5, 13)],
            [spread(29.9, N, 0.5, 4), spread(41.0, N, 0.5, 14)],
            None,
            [undefined(N), spread(35.0, N, 0.5, 15)],
        ]
    )


def test_every_pair_is_that_of_the_plain_functions(board):
    found = bootstrap_pairs(board, 0)
    assert [(pair.a, pair.b) for pair in found] == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    for pair in found:
        first, second = board.rows[pair.a].scores[0], board.rows[pair.b].scores[0]
        differences = second.replicate_scores - first.replicate_scores
        assert pair.difference == second.score - first.score
        assert pair.p == bootstrap_p(pair.difference, differences)
        assert pair.interval == percentile_interval(differences, 0.95)
    assert [pair.p_corrected for pair in found] == [pair.p for pair in found], "the leaderboard does not correct"
    by_holm = [pair.p_corrected for pair in bootstrap_pairs(board, 0, correction="holm")]
    assert by_holm == corrected([pair.p for pair in found], "holm").tolist()
    assert len(bootstrap_pairs(board, 1)) == 10, "f has a TER"


def test_the_best_and_the_worst_by_autorank_differ_in_every_replicate():
    """All differences are one, and no spread says how sure that is: the replicates do."""
    places = [(float(place), [float(place)] * N) for place in (1, 3)]
    board = made_board([[place, place] for place in places])
    (untested,) = bootstrap_pairs(board, 1)
    assert np.isnan(untested.p)
    named = replace(board, listed=replace(board.listed, metrics=("bleu", "autorank:of=1")))
    (pair,) = bootstrap_pairs(named, 1)
    assert (pair.difference, pair.p, pair.p_corrected) == (2.0, 1 / (N + 1), 1 / (N + 1))
    missing = made_board([[(50.0, [50.0] * N), (place, [math.nan, *more[1:]])] for place, more in places])
    (pair,) = bootstrap_pairs(replace(missing, listed=named.listed), 1)
    assert np.isnan(pair.p), "no replicate without an AutoRank says anything"
    (pair,) = bootstrap_pairs(named, 0)
    assert np.isnan(pair.p), "other metrics are tested as ever"


def test_against_a_baseline(board):
    found = bootstrap_pairs(board, 0, baseline=1, correction="none")
    assert [(pair.a, pair.b) for pair in found] == [(1, 0), (1, 2), (1, 3)]
    assert all(pair.p == pair.p_corrected for pair in found)
    assert bootstrap_pairs(board, 0, baseline=5) == [], "a baseline without a score has no pairs"


def test_places_by_either_kind_of_metric(board):
    ranked = ranked_by_bootstrap(board)
    by_bleu = [ranked.rank_of(row, 0) for row in range(6)]
    assert [place and (place.rank, place.low, place.high, place.cluster, place.wins) for place in by_bleu] == [
        *[(1, 1, 2, 1, 2), (2, 1, 2, 1, 2), (3, 3, 4, 2, 0), (4, 3, 4, 2, 0)],
        *[None, None],
    ]
    by_ter = [ranked.rank_of(row, 1) for row in range(6)]
    assert [place and (place.rank, place.cluster) for place in by_ter] == [
        *[(1, 1), (2, 2), (4, 3), (5, 4), None, (3, 2)],
    ]
    assert ranked.ranking.fault == ""


def test_an_unranked_system_has_no_rank_and_does_not_count(board):
    """c stands beside the others: their places are those of a board without it."""
    rows = [replace(row, ranked=row.system != "c") for row in board.rows]
    beside = ranked_by_bootstrap(replace(board, rows=rows), correction="holm")
    without = ranked_by_bootstrap(board.only([0, 1, 3, 4, 5]), correction="holm")
    for found, expected in zip(beside.ranking.ranks, without.ranking.ranks, strict=True):
        assert found == [*expected[:2], None, *expected[2:]]
    assert beside.ranking.ranks[0][3].wins == 0
    assert beside.ranking.ranks[1][5].high == 3, "of four systems that are ranked by TER"


def test_places_are_those_of_the_corrected_tests_at_the_level_asked_for():
    """Systems that lie so close that each of these choices finds others of them."""
    board = made_board([[spread(40.0 - 0.7 * n, N, 0.25, n), spread(30.0, N, 0.5, 10 + n)] for n in range(6)])
    wins = {}
    for correction, alpha in (("none", 0.05), ("holm", 0.05), ("holm", 0.3), ("none", 0.5)):
        ranked = ranked_by_bootstrap(board, correction=correction, alpha=alpha)
        assert (ranked.ranking.correction, ranked.ranking.alpha) == (correction, alpha)
        for metric in (0, 1):
            pairs = bootstrap_pairs(board, metric, correction=correction)
            better = np.zeros((6, 6), bool)
            for pair in pairs:
                better[pair.a, pair.b] = better[pair.b, pair.a] = pair.p_corrected < alpha
            scores = [row.scores[metric].score for row in board.rows]
            assert ranked.ranking.ranks[metric] == rank_systems(scores, better, higher_is_better=metric == 0)
        wins[correction, alpha] = sum(place.wins for place in ranked.ranking.ranks[0])
    assert wins["holm", 0.05] < wins["none", 0.05] < wins["none", 0.5]
    assert wins["holm", 0.05] < wins["holm", 0.3]


def test_a_replicate_that_is_undefined_wins_nothing():
    """Its p-value is unknown, not tiny."""
    score, replicates = spread(90.0, N, 0.1, 1)
    board = made_board([[(score, [math.nan, *replicates[1:]])] * 2, [spread(10.0, N, 0.1, 2)] * 2])
    (pair,) = bootstrap_pairs(board, 0)
    assert np.isnan([pair.p, pair.p_corrected]).all()
    assert pair.interval is None
    ranking = ranked_by_bootstrap(board).ranking
    assert [place.wins for place in ranking.ranks[0]] == [0, 0]
    assert ranking.fault == (
        "Pairs that could not be tested by BLEU, TER ↓, because resamples have no score or are all alike: 2."
    )


def test_without_replicates_there_are_no_places(board):
    bare = made_board([[(40.0, []), (1.0, [])], [(30.0, []), (2.0, [])]])
    ranked = ranked_by_bootstrap(bare)
    assert [ranked.rank_of(row, 0) for row in range(2)] == [None, None]
    assert "No replicates were stored" in ranked.ranking.fault
    assert bootstrap_pairs(bare, 0) == []


def test_too_few_replicates_are_reported(board):
    few = made_board([[spread(score, 19, 0.1, seed)] * 2 for seed, score in enumerate((1.0, 90.0))])
    ranked = ranked_by_bootstrap(few)
    assert ranked.ranking.fault == (
        "19 replicates are too few: no p-value can be below 0.05, so no systems are separated."
    )
    assert [pair.p for pair in bootstrap_pairs(few, 0)] == [0.05]
    assert [ranked.rank_of(row, 0).wins for row in range(2)] == [0, 0]
    assert ranked_by_bootstrap(few, alpha=0.06).ranking.fault == ""
    assert "0.0498" in ranked_by_bootstrap(board, correction="holm", alpha=0.01).ranking.fault
    # A pair that cannot be tested is no test: of 39 replicates one pair can be below 0.05, and of three none.
    systems = [[spread(score, 39, 0.1, seed)] * 2 for seed, score in enumerate((1.0, 50.0, 90.0))]
    assert "39 replicates are too few" in ranked_by_bootstrap(made_board(systems), correction="holm").ranking.fault
    systems[2] = [(90.0, [math.nan] * 39)] * 2
    assert "too few" not in ranked_by_bootstrap(made_board(systems), correction="holm").ranking.fault


def test_too_few_segments_are_reported():
    systems = [[spread(score, N, 0.1, seed)] * 2 for seed, score in enumerate((1.0, 90.0))]
    told = "49 segments are few: on them the bootstrap finds too many differences, randomization does not."
    assert ranked_by_bootstrap(made_board(systems, segments=49)).ranking.fault == told
    assert ranked_by_bootstrap(made_board(systems, segments=50)).ranking.fault == ""


def test_whether_it_is_the_leaderboards_own_rule():
    own = compared_to_leaderboard("bootstrap", "none")
    assert own.startswith("This is the rule of the leaderboard")
    assert "about 5 of 100 pairs" in own
    assert compared_to_leaderboard("randomization", "none").startswith("The leaderboard uses the paired bootstrap.")
    for test in ("bootstrap", "randomization"):
        assert compared_to_leaderboard(test, "holm").startswith("This is stricter than the leaderboard")


def test_an_empty_board_and_one_system():
    assert ranked_by_bootstrap(made_board([])).ranking.fault
    (alone,) = ranked_by_bootstrap(made_board([[spread(1.0, N, 0.1, 1)] * 2])).ranking.ranks[0]
    assert (alone.rank, alone.low, alone.high, alone.cluster, alone.wins) == (1, 1, 1, 1, 0)


scores = st.lists(st.sampled_from([10.0, 10.1, 10.2, 12.0, None]), min_size=1, max_size=7)


@given(scores=scores, correction=st.sampled_from(["none", "holm", "bh"]))
def test_laws(scores, correction):
    found = [
        [undefined(40) if score is None else spread(score, 40, 0.3, number)] * 2 for number, score in enumerate(scores)
    ]
    board = made_board(found)
    ranked = ranked_by_bootstrap(board, correction=correction)
    places = [ranked.rank_of(row, 0) for row in range(len(scores))]
    assert [place is None for place in places] == [score is None for score in scores]
    for row, place in zip(board.rows, places, strict=True):
        assert (place and place.rank) == row.scores[0].rank, "tests and table agree on the rank"
    pairs = bootstrap_pairs(board, 0, correction="none")
    # One more system changes no pair of the others.
    more = made_board([*found, [spread(11.0, 40, 0.3, 99)] * 2])
    kept = [pair for pair in bootstrap_pairs(more, 0, correction="none") if pair.b < len(scores)]
    assert kept == pairs
    # Against every baseline it is the same pair the other way round.
    for pair in pairs:
        (turned,) = [
            other for other in bootstrap_pairs(board, 0, baseline=pair.b, correction="none") if other.b == pair.a
        ]
        assert (turned.difference, turned.p) == (-pair.difference, pair.p)


def test_pairs_are_compared_a_few_at_a_time(board, monkeypatch):
    whole = bootstrap_pairs(board, 1)
    monkeypatch.setattr("steelyard.resampling.paired.AT_ONCE", 3)
    assert bootstrap_pairs(board, 1) == whole
    assert bootstrap_pairs(board, 1, intervals=False) == [replace(pair, interval=None) for pair in whole]
