"""Relative rankings and agreement: worked examples, brute-force twins, and laws."""

import math
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.meta_evaluation.human.agreement import agreement
from steelyard.meta_evaluation.human.judgments import Judgment, SegmentScore, SystemScore
from steelyard.meta_evaluation.human.rankings import BETTER_OR_EQUAL, WINS, comparisons, ranked_segments, ranked_systems


def ranking(annotator: str, segment: int, label: str = "1", **ranks: float) -> list[Judgment]:
    return [Judgment(annotator, system, segment, rank, label) for system, rank in ranks.items()]


EXAMPLE = [
    *ranking("eva", 0, p=1, q=2, r=2),
    *ranking("jan", 0, p=1, q=1, r=3),
    *ranking("jan", 1, p=2, q=1),
]


def test_comparisons_by_hand():
    counted = comparisons(EXAMPLE)
    # p above q: eva; equal: jan; below: jan in segment 1.
    assert counted.of("p", "q") == (1, 1, 1)
    assert counted.of("q", "p") == (1, 1, 1)
    assert counted.of("p", "r") == (2, 0, 0)
    assert counted.of("r", "q") == (0, 1, 1)
    assert counted.of("r", "nobody") == (0, 0, 0)


def test_segments_by_hand():
    assert ranked_segments(EXAMPLE) == [
        SegmentScore("p", 0, -1.0, 1.0, 2),
        SegmentScore("p", 1, -2.0, 2.0, 1),
        SegmentScore("q", 0, -1.5, 1.5, 2),
        SegmentScore("q", 1, -1.0, 1.0, 1),
        SegmentScore("r", 0, -2.5, 2.5, 2),
    ]


def test_systems_by_hand():
    # p: 3 above, 1 equal, 1 below; q: 2, 2, 1; r: 0, 1, 3.
    assert ranked_systems(EXAMPLE) == [
        SystemScore("p", 3 / 4, 1.5, 2, 3),
        SystemScore("q", 2 / 3, 1.25, 2, 3),
        SystemScore("r", 0.0, 2.5, 1, 2),
    ]
    assert [system.score for system in ranked_systems(EXAMPLE, BETTER_OR_EQUAL)] == [4 / 5, 4 / 5, 1 / 4]


def test_a_system_that_was_never_above_or_below_has_no_share_of_wins():
    tied = [*ranking("eva", 0, p=1, q=1), *ranking("eva", 1, r=3)]
    assert ranked_systems(tied, WINS) == []
    assert [system.system for system in ranked_systems(tied, BETTER_OR_EQUAL)] == ["p", "q"]


def test_rankings_of_one_segment_by_one_annotator_are_apart():
    counted = comparisons([*ranking("eva", 0, "1", p=1, q=2), *ranking("eva", 0, "2", p=2, r=1)])
    assert counted.of("q", "r") == (0, 0, 0)
    assert counted.of("p", "q") == (1, 0, 0)


drawn_rankings = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c"]),
        st.integers(0, 1),
        st.dictionaries(st.sampled_from("pqrs"), st.integers(1, 4).map(float), min_size=1),
    ),
    max_size=8,
).map(
    lambda drawn: [j for n, (who, segment, ranks) in enumerate(drawn) for j in ranking(who, segment, str(n), **ranks)]
)


def units(judgments):
    """Each ranking's ranks by system."""
    found = {}
    for judgment in judgments:
        found.setdefault((judgment.annotator, judgment.segment, judgment.label), {})[judgment.system] = judgment.value
    return found


@given(judgments=drawn_rankings, data=st.data())
def test_scores_are_shares_counted_one_by_one(judgments, data):
    above, ties, below = {}, {}, {}
    for ranks in units(judgments).values():
        for first, second in permutations(ranks, 2):
            where = above if ranks[first] < ranks[second] else below if ranks[first] > ranks[second] else ties
            where[first] = where.get(first, 0) + 1
    wins, equal = {}, {}
    for system in "pqrs":
        better, same, worse = (counts.get(system, 0) for counts in (above, ties, below))
        if better + worse:
            wins[system] = better / (better + worse)
        if better + same + worse:
            equal[system] = (better + same) / (better + same + worse)
    assert {score.system: score.score for score in ranked_systems(judgments, WINS)} == wins
    assert {score.system: score.score for score in ranked_systems(judgments, BETTER_OR_EQUAL)} == equal
    turned = data.draw(st.permutations(judgments))
    assert ranked_systems(turned) == ranked_systems(judgments)
    assert ranked_segments(turned) == ranked_segments(judgments)


def test_agreement_of_rankings_by_hand():
    found = agreement(EXAMPLE, ranked=True)
    # Segment 0, eva and jan: p-q above and equal, p-r above and above, q-r equal and above.
    assert (found.comparisons, found.share) == (3, 1 / 3)
    # Of the seven comparisons that were made two are ties.
    assert found.by_chance == pytest.approx((2 / 7) ** 2 + 2 * (5 / 14) ** 2)
    assert found.kappa == pytest.approx((1 / 3 - found.by_chance) / (1 - found.by_chance))


def test_agreement_of_ratings_by_hand():
    def rating(annotator, system, value):
        return Judgment(annotator, system, 0, value)

    judgments = [
        *(rating("a", "x", 10.0), rating("a", "y", 20.0), rating("a", "z", 20.0)),
        # Rated twice: 5 and 45 are 25.
        *(rating("b", "x", 5.0), rating("b", "x", 45.0), rating("b", "y", 30.0)),
        *(rating("c", "x", 9.0), rating("c", "y", 8.0), rating("c", "z", 7.0)),
    ]
    found = agreement(judgments, ranked=False)
    # x-y: a and b say y, c says x: one of three pairs agrees. x-z and y-z: a and c differ.
    assert (found.comparisons, found.share) == (5, 1 / 5)


def test_agreement_needs_two_annotators():
    alone = agreement([*ranking("eva", 0, "1", p=1, q=2), *ranking("eva", 0, "2", p=1, q=2)], ranked=True)
    assert alone.comparisons == 0
    assert math.isnan(alone.share)
    assert math.isnan(alone.kappa)
    together = agreement([*ranking("eva", 0, p=1, q=2), *ranking("jan", 0, p=1, q=2)], ranked=True)
    assert (together.comparisons, together.share, together.kappa) == (1, 1.0, 1.0)
    tied = agreement([*ranking("eva", 0, p=1, q=1), *ranking("jan", 0, p=1, q=1)], ranked=True)
    assert tied.share == tied.by_chance == 1
    assert math.isnan(tied.kappa)


@given(judgments=drawn_rankings)
def test_agreement_is_counted_pair_by_pair(judgments):
    def sign(ranks, a, b):
        return (ranks[a] > ranks[b]) - (ranks[a] < ranks[b])

    same = total = 0
    for ((one, where, _), first), ((other, there, _), second) in combinations(units(judgments).items(), 2):
        if one != other and where == there:
            for a, b in combinations(sorted(first.keys() & second.keys()), 2):
                total += 1
                same += sign(first, a, b) == sign(second, a, b)
    found = agreement(judgments, ranked=True)
    assert found.comparisons == total
    if total:
        assert found.share == same / total
