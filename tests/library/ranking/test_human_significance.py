"""Who is better beyond chance: WMT's published rankings, small cases by hand, human_ranks."""

import csv
import math
from itertools import combinations, product

import numpy as np
import pytest

from steelyard.meta_evaluation.human.judgments import Judgment
from steelyard.meta_evaluation.human.rankings import comparisons
from steelyard.meta_evaluation.human.reading import Reading, read_judgments
from steelyard.ranking.human_ranks import HumanRank, human_ranks, human_ranks_by_wins
from steelyard.ranking.human_significance import ALPHA, mann_whitney, sign_test


def rows(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_the_official_ranking_comes_out_of_the_segments(real_data):
    """WMT22 German to English: scores, wins, clusters and their ranks of all ten systems, to the printed digits."""
    folder = real_data / "wmt22.de-en"
    judged = read_judgments([folder / "human.seg.tsv"], Reading(1984))
    systems = sorted(judged.systems, key=lambda score: -score.score)
    arrays = {score.system: np.full(1984, np.nan) for score in systems}
    for segment in judged.segments:
        arrays[segment.system][segment.segment] = segment.score
    p = mann_whitney([arrays[score.system] for score in systems])
    found = human_ranks([score.score for score in systems], p < ALPHA)
    ours = [
        {
            "system": score.system,
            "score": f"{score.score:.6f}",
            "z": f"{score.score:.6f}",
            "raw": f"{score.raw:.4f}",
            "n_segments": str(score.segments),
            "n_judgments": str(score.judgments),
            "wins": str(place.wins),
            "rank": "{}-{}".format(*place.cluster_ranks),
            "cluster": str(place.cluster),
        }
        for score, place in zip(systems, found, strict=True)
    ]
    assert ours == rows(folder / "human.sys.tsv")


def test_published_wins_give_the_published_clusters(real_data):
    folder = real_data / "wmt21.en-cs"
    systems = sorted(read_judgments([folder / "human.sys.tsv"], Reading(1002)).systems, key=lambda each: -each.score)
    found = human_ranks_by_wins([each.score for each in systems], [each.wins for each in systems])
    published = rows(folder / "human.sys.tsv")
    assert [each.system for each in systems] == [row["system"] for row in published]
    assert [("{}-{}".format(*place.cluster_ranks), str(place.cluster)) for place in found] == [
        (row["rank"], row["cluster"]) for row in published
    ]
    assert all(place.low is None and place.high is None for place in found)


def exact_mann_whitney(first, second):
    """The share of all ways to choose which values are the first ones whose U is at least as large."""
    together = [*first, *second]

    def u(chosen):
        others = [value for place, value in enumerate(together) if place not in chosen]
        return sum(together[place] > other for place in chosen for other in others)

    seen = u(tuple(range(len(first))))
    ways = list(combinations(range(len(together)), len(first)))
    return sum(u(way) >= seen for way in ways) / len(ways)


def test_small_samples_are_exact():
    first, second = [5.0, 7.0, 9.0, np.nan], [1.0, 6.0, np.nan, 2.0]
    p = mann_whitney([np.array(first), np.array(second)])
    assert p[0, 1] == pytest.approx(exact_mann_whitney([5, 7, 9], [1, 6, 2]))
    assert p[1, 0] == pytest.approx(exact_mann_whitney([1, 6, 2], [5, 7, 9]))
    # Only the first two segments were judged of both.
    shared = mann_whitney([np.array(first), np.array(second)], shared=True)
    assert shared[0, 1] == pytest.approx(exact_mann_whitney([5, 7], [1, 6]))
    assert np.isnan(p.diagonal()).all()


def test_large_samples_are_normal_with_correction_for_continuity():
    first, second = np.arange(20.0) + 3, np.arange(20.0)
    u = sum((a > b) + (a == b) / 2 for a in first for b in second)
    ties = sum(count**3 - count for count in np.unique(np.concatenate([first, second]), return_counts=True)[1])
    spread = math.sqrt(20 * 20 / 12 * (41 - ties / (40 * 39)))
    z = (u - 200 - 0.5) / spread
    assert mann_whitney([first, second])[0, 1] == pytest.approx(math.erfc(z / math.sqrt(2)) / 2)


def test_systems_that_share_no_segment_have_no_test():
    p = mann_whitney([np.array([1.0, np.nan]), np.array([np.nan, 2.0])], shared=True)
    assert np.isnan(p).all()


@pytest.mark.parametrize("segments", [1, 5, 30])
def test_equal_segments_are_never_better(segments):
    same = np.full(segments, 5.0)
    assert not (mann_whitney([same, same]) < ALPHA).any()


def test_the_sign_test_counts_direct_comparisons():
    judgments = [
        judgment
        for segment in range(9)
        for judgment in (
            Judgment("a", "x", segment, 1.0 if segment < 8 else 2.0),
            Judgment("a", "y", segment, 1.0 if segment == 8 else 2.0),
            Judgment("a", "z", segment, 1.0),
        )
    ]
    p = sign_test(["x", "y", "z"], comparisons(judgments))
    # x is above y eight times of nine.
    assert p[0, 1] == pytest.approx((math.comb(9, 8) + 1) / 2**9)
    assert p[1, 0] == pytest.approx(1 - 1 / 2**9)
    # x and z: eight ties, which say nothing, and one loss.
    assert p[0, 2] == 1
    assert p[2, 0] == 0.5


def test_standings():
    better = np.array([[False, True, True], [False, False, False], [False, False, False]])
    assert human_ranks([3.0, 1.0, 2.0], better) == [
        HumanRank(1, 1, 1, 1, 2, (1, 1)),
        HumanRank(3, 2, 3, 2, 0, (2, 3)),
        HumanRank(2, 2, 3, 2, 0, (2, 3)),
    ]
    assert human_ranks([], np.zeros((0, 0), bool)) == []


@pytest.mark.parametrize("systems", [1, 2, 3, 4])
def test_standings_never_part_equal_scores(systems):
    """All scores out of three, all numbers of wins: clusters follow each other, and a tie lies within one."""
    for scores in product((0.0, 1.0, 2.0), repeat=systems):
        for wins in product(range(systems), repeat=systems):
            found = human_ranks_by_wins(scores, wins)
            for (score, one), (beside, other) in product(zip(scores, found, strict=True), repeat=2):
                assert one.rank == 1 + sum(each > score for each in scores)
                if score == beside:
                    assert (one.cluster, one.cluster_ranks) == (other.cluster, other.cluster_ranks)
                elif score > beside and one.cluster and other.cluster:
                    assert one.cluster <= other.cluster


def test_standings_by_wins():
    assert human_ranks_by_wins([3.0, 1.0, 2.0], [2, 0, 0]) == [
        HumanRank(1, cluster=1, wins=2, cluster_ranks=(1, 1)),
        HumanRank(3, cluster=2, wins=0, cluster_ranks=(2, 3)),
        HumanRank(2, cluster=2, wins=0, cluster_ranks=(2, 3)),
    ]
    assert human_ranks_by_wins([1.0, 1.0, 2.0], [None, 0, 2]) == [HumanRank(2), HumanRank(2), HumanRank(1)]
