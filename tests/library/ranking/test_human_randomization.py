"""Our own rule for human rankings: against every exchange there is, by laws, and where WMT24's is wrong."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.fixed_point import on_grid
from steelyard.ranking.human_randomization import randomization_p_of_pairs
from steelyard.ranking.human_rules import OWN, Trials, rank_by_humans
from steelyard.resampling.correction import corrected

TRIALS = 4000


def p_of(scores, domains=None, documents=None, *, correction="none"):
    places = np.array(domains or [""] * np.shape(scores)[1])
    parts = [places == each for each in np.unique(places)]
    groups = np.arange(len(places)) if documents is None else np.array(documents)
    return randomization_p_of_pairs(
        np.array(scores, float), parts, groups, trials=TRIALS, seed=1, correction=correction
    )


def exact(first, second, domains, documents):
    """The share of all exchanges of documents whose difference is as large as the real one, and that difference."""
    places = [n for n in range(len(first)) if not np.isnan(first[n] - second[n])]
    names = sorted({domains[n] for n in places})

    def difference(signs):
        means = []
        for name in names:
            own = [sign * (first[n] - second[n]) for sign, n in zip(signs, places, strict=True) if domains[n] == name]
            means.append(sum(own) / len(own))
        return sum(means) / len(names)

    real = difference([1] * len(places))
    exchanges = [[signs[documents[n]] for n in places] for signs in product((1, -1), repeat=max(documents) + 1)]
    as_large = [abs(difference(signs)) >= abs(real) - 1e-9 for signs in exchanges]
    return sum(as_large) / len(as_large), real


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_p_is_near_that_of_all_exchanges(seed):
    draws = np.random.default_rng(seed)
    scores = draws.integers(0, 101, (2, 9)).astype(float)
    scores[0] += draws.integers(0, 40)
    scores[draws.random(scores.shape) < 0.1] = np.nan
    documents = [0, 0, 1, 2, 3, 3, 3, 4, 5] if draws.random() < 0.5 else list(range(9))
    kinds = draws.integers(0, 3, 9)
    domains = [str(kinds[each]) for each in documents]
    p, difference = p_of(scores, domains, documents)
    share, real = exact(scores[0], scores[1], domains, documents)
    # Five standard errors.
    assert p[0, 1] == pytest.approx(share, abs=5 * (share * (1 - share) / TRIALS) ** 0.5 + 2 / TRIALS)
    assert difference[0, 1] == pytest.approx(real, abs=1e-5)
    assert difference[1, 0] == -difference[0, 1]


@pytest.mark.parametrize("places", [3, 6, 7, 11, 13])
def test_differences_that_are_equal_but_for_rounding_are_as_large(places):
    """1 + 2 - 3 is nothing: to exchange these three changes no difference, whatever a seventh of each is rounded to."""
    differences = np.zeros(places + 1)
    differences[: 4 if places > 3 else 3] = [1.0, 2.0, -3.0, 50.0][: 4 if places > 3 else 3]
    scores = np.stack([differences, np.zeros(places + 1)])[:, :places]
    p, _ = p_of(scores, ["x"] * places)
    share, _ = exact(scores[0], scores[1], ["x"] * places, list(range(places)))
    assert p[0, 1] == pytest.approx(share, abs=5 * (share * (1 - share) / TRIALS) ** 0.5 + 2 / TRIALS)


@pytest.mark.parametrize("places", [6, 12, 24])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_rounding_to_the_grid_parts_is_still_equal(places, sign):
    """Twice a third of 1 is not two thirds on the grid: to exchange 1, 1 and -2 is as good as not to, nevertheless."""
    differences = np.zeros(places)
    differences[:4] = [sign, sign, -2 * sign, 50.0]
    parts = on_grid(differences[:3] / places)
    assert parts.sum() != 0, "nothing is rounded here"
    p, _ = p_of(np.stack([differences, np.zeros(places)]), ["x"] * places)
    # Of the eight ways to exchange the three, five leave as much, the 50 exchanged or not.
    assert p[0, 1] == pytest.approx(5 / 8, abs=5 * (5 / 8 * 3 / 8 / TRIALS) ** 0.5 + 2 / TRIALS)


def test_systems_do_not_change_each_others_tests(monkeypatch):
    draws = np.random.default_rng(2).integers(0, 101, (6, 40)).astype(float)
    whole, _ = p_of(draws)
    monkeypatch.setattr("steelyard.ranking.human_randomization.PAIRS_AT_ONCE", 4)
    parts, _ = p_of(draws)
    assert np.array_equal(whole, parts, equal_nan=True)
    alone, _ = p_of(draws[[1, 4]])
    assert alone[0, 1] == whole[1, 4]
    upper = np.triu_indices(6, 1)
    corrected_p, _ = p_of(draws, correction="holm")
    assert corrected_p[upper].tolist() == corrected(whole[upper].tolist(), "holm").tolist()


def test_without_a_place_in_common_nothing_is_tested():
    p, difference = p_of([[50, np.nan, 60], [np.nan, 70, np.nan], [40, 30, 20]])
    assert np.isnan([p[0, 1], difference[0, 1], p[0, 0]]).all()
    assert not np.isnan(p[0, 2])


def test_equal_systems_never_differ():
    scores = np.random.default_rng(3).integers(0, 101, 30).astype(float)
    p, _ = p_of([scores, scores])
    assert p[0, 1] == 1.0


def test_no_p_value_is_zero():
    """The real order is one of those that might have been (Noreen 1989)."""
    p, _ = p_of([[90.0] * 40, [10.0] * 40])
    assert p[0, 1] == 1 / (TRIALS + 1)


def test_opposite_differences_between_domains_cancel_out():
    """WMT24's rule finds a difference where one is better in one domain, and the other in the other."""
    draws = np.random.default_rng(1)
    scores = draws.integers(0, 9, (2, 80)).astype(float)
    scores[0, :40] += 20
    scores[1, 40:] += 20.5
    domains = ["a"] * 40 + ["b"] * 40
    assert rank_by_humans(scores, domains, rule="wmt24").p[0, 1] < 1e-9
    own = rank_by_humans(scores, domains, rule=OWN)
    assert own.p[0, 1] > 0.05
    assert [each.cluster for each in own.ranks] == [1, 1]


def test_one_domain_without_a_difference_does_not_outweigh_the_others():
    scores = np.array([[50.0], [90.0]]) + np.random.default_rng(3).integers(0, 6, (2, 60))
    scores[:, 40:] = 7
    domains = ["a"] * 40 + ["b"] * 20
    assert rank_by_humans(scores, domains, rule="wmt24").p[0, 1] == 1
    assert rank_by_humans(scores, domains, rule=OWN).p[0, 1] < 0.001


def test_the_level_decides_who_differs():
    scores = np.random.default_rng(5).normal([[52.0], [50.0]], 6.0, (2, 60))
    p = rank_by_humans(scores, rule=OWN).p[0, 1]
    for level, wins in ((1 - 0.9 * p, 0), (1 - 1.1 * p, 1)):
        ranking = rank_by_humans(scores, rule=OWN, trials=Trials(level=level))
        assert ranking.ranks[0].wins == wins


def test_a_document_counts_once():
    """Twenty segments that one annotator scored alike are no twenty judgments."""
    scores = np.array([[90.0] * 20 + [50.0, 60, 70], [50.0] * 20 + [52.0, 61, 69]])
    apart, _ = p_of(scores)
    together, _ = p_of(scores, documents=[0] * 20 + [1, 2, 3])
    assert apart[0, 1] < 0.001
    assert together[0, 1] > 0.5
