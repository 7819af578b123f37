"""Ranks, rank ranges and clusters: worked examples, WMT's published ones, and laws."""

import csv
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.ranking.clusters import SystemRank, rank_systems


def wins(*pairs: tuple[int, int], systems: int) -> np.ndarray:
    better = np.zeros((systems, systems), np.bool_)
    for winner, loser in pairs:
        better[winner, loser] = True
    return better


def test_a_worked_example():
    """b beats everybody; a beats d and e, c beats e. Nothing parts a from c, so that those below b stay together."""
    better = wins((1, 2), (1, 3), (1, 4), (1, 0), (0, 3), (0, 4), (2, 4), systems=5)
    found = rank_systems([30.0, 40.0, 29.0, 28.0, 20.0], better)
    assert found == [
        SystemRank(2, 2, 3, 2, 2, (2, 5)),
        SystemRank(1, 1, 1, 1, 4, (1, 1)),
        SystemRank(3, 2, 4, 2, 1, (2, 5)),
        SystemRank(4, 3, 5, 2, 0, (2, 5)),
        SystemRank(5, 4, 5, 2, 0, (2, 5)),
    ]


def test_equal_scores_share_a_rank_and_are_never_parted():
    """Both at the top beat the third, which alone makes a line; that one would beat its equal counts for nothing."""
    found = rank_systems([50.0, 50.0, 10.0], wins((0, 1), (0, 2), (1, 2), systems=3))
    assert [(place.rank, place.low, place.high, place.cluster, place.wins) for place in found if place] == [
        (1, 1, 2, 1, 1),
        (1, 1, 2, 1, 1),
        (3, 3, 3, 2, 0),
    ]


def test_a_test_against_the_order_of_scores_is_no_win():
    assert [place and place.wins for place in rank_systems([2.0, 1.0], wins((1, 0), systems=2))] == [0, 0]


def test_error_rates():
    found = rank_systems([60.0, 40.0, math.nan], wins((1, 0), systems=3), higher_is_better=False)
    assert found == [SystemRank(2, 2, 2, 2, 0, (2, 2)), SystemRank(1, 1, 1, 1, 1, (1, 1)), None]


def test_nobody_to_rank():
    assert rank_systems([], np.zeros((0, 0), np.bool_)) == []
    assert rank_systems([math.nan], np.ones((1, 1), np.bool_)) == [None]


def test_the_literal_rule_where_tests_contradict_each_other():
    """a beats b but not c, b beats c: one win each, as many as systems below b. WMT's program draws a line there."""
    found = rank_systems([3.0, 2.0, 1.0], wins((0, 1), (1, 2), systems=3))
    assert [place.cluster for place in found if place] == [1, 1, 2]


def test_published_clusters_of_wmt21(real_data):
    """The printout has scores and numbers of wins; which systems were beaten hardly matters for clusters."""
    rows = read(real_data / "wmt21.en-cs" / "human.sys.tsv")
    # Whoever wins w times is taken to have won against the last w systems: clusters depend on the numbers alone.
    better = np.array([[other >= len(rows) - int(row["wins"]) for other in range(len(rows))] for row in rows])
    found = rank_systems([float(row["score"]) for row in rows], better)
    assert [str(place.cluster) for place in found if place] == [row["cluster"] for row in rows]
    assert [place.wins for place in found if place] == [int(row["wins"]) for row in rows]
    assert ["{}-{}".format(*place.cluster_ranks) for place in found if place] == [row["rank"] for row in rows]


def test_published_clusters_of_wmt22(real_data):
    """From the judgments to wins, ranks and clusters: scipy's test, our ranks."""
    stats = pytest.importorskip("scipy.stats")
    rows = read(real_data / "wmt22.de-en" / "human.sys.tsv")
    judged: dict[str, list[float]] = {row["system"]: [] for row in rows}
    for cell in read(real_data / "wmt22.de-en" / "human.seg.tsv"):
        judged[cell["system"]].append(float(cell["score"]))
    better = [
        [stats.mannwhitneyu(a, b, alternative="greater").pvalue < 0.05 for b in judged.values()]
        for a in judged.values()
    ]
    found = rank_systems([float(np.mean(scores)) for scores in judged.values()], np.array(better))
    assert [place.wins for place in found if place] == [int(row["wins"]) for row in rows]
    assert [str(place.cluster) for place in found if place] == [row["cluster"] for row in rows]
    assert ["{}-{}".format(*place.cluster_ranks) for place in found if place] == [row["rank"] for row in rows]
    assert [place.rank for place in found if place] == list(range(1, 11))


def read(path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def wmts_program(order: list[float], won: list[int], lost: list[int]) -> list[tuple[int, int, int]]:
    """(best rank, worst rank, cluster) as make_rankings.py prints them, for systems in order without ties."""
    found, least, cluster = [], len(order), 1
    for position, (wins_here, losses_here) in enumerate(zip(won, lost, strict=True)):
        least = min(wins_here, least)
        found.append((losses_here + 1, len(order) - wins_here, cluster))
        if least == len(order) - (position + 1):
            cluster += 1
    return found


@st.composite
def boards(draw, distinct=False):
    value = st.integers(0, 30).map(float) if distinct else st.sampled_from([1.0, 2.0, 3.0, 4.0, math.nan])
    scores = draw(st.lists(value, max_size=8, unique=distinct))
    flags = draw(st.lists(st.booleans(), min_size=len(scores) ** 2, max_size=len(scores) ** 2))
    return scores, np.array(flags, np.bool_).reshape(len(scores), len(scores)), draw(st.booleans())


@given(boards(distinct=True))
def test_without_ties_it_is_wmts_program(board):
    scores, better, higher = board
    order = sorted(range(len(scores)), key=lambda s: scores[s], reverse=higher)
    won = np.array([[better[a, b] and order.index(a) < order.index(b) for b in order] for a in order], np.bool_)
    won = won.reshape(len(order), len(order))
    expected = wmts_program(scores, won.sum(axis=1).tolist(), won.sum(axis=0).tolist())
    found = rank_systems(scores, better, higher_is_better=higher)
    assert [(found[s].low, found[s].high, found[s].cluster) for s in order] == expected


@given(boards())
def test_laws(board):
    scores, better, higher = board
    found = rank_systems(scores, better, higher_is_better=higher)
    there = {system: place for system, place in enumerate(found) if place}
    assert [math.isnan(score) for score in scores] == [place is None for place in found]
    for system, place in there.items():
        ahead = [o for o in there if (scores[o] > scores[system] if higher else scores[o] < scores[system])]
        assert place.rank == 1 + len(ahead)
        assert 1 <= place.low <= place.rank <= place.high <= len(there)
        assert place.cluster_ranks[0] <= place.rank <= place.cluster_ranks[1]
        assert all(there[o].cluster <= place.cluster for o in ahead)
        assert all(there[o].cluster == place.cluster for o in there if scores[o] == scores[system])
        mates = [o for o in there if there[o].cluster == place.cluster]
        assert len(mates) == place.cluster_ranks[1] - place.cluster_ranks[0] + 1
    clusters = {place.cluster for place in there.values()}
    assert clusters == set(range(1, 1 + len(clusters)))


@given(boards())
def test_systems_without_a_score_change_nothing(board):
    scores, better, higher = board
    kept = [s for s, score in enumerate(scores) if not math.isnan(score)]
    alone = rank_systems([scores[s] for s in kept], better[np.ix_(kept, kept)], higher_is_better=higher)
    assert [place for place in rank_systems(scores, better, higher_is_better=higher) if place] == alone


@given(st.lists(st.integers(0, 9), min_size=1, max_size=10, unique=True))
def test_if_everybody_wins_everybody_is_a_cluster(scores):
    found = rank_systems([float(score) for score in scores], np.ones((len(scores),) * 2, np.bool_))
    assert sorted(place.cluster for place in found if place) == list(range(1, len(scores) + 1))
    assert all(place.low == place.rank == place.high for place in found if place)
    alone = rank_systems([float(score) for score in scores], np.zeros((len(scores),) * 2, np.bool_))
    assert {(place.cluster, place.low, place.high) for place in alone if place} == {(1, 1, len(scores))}
