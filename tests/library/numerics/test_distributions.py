"""Distributions against SciPy, and where they end."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from steelyard.numerics.distributions import (
    mann_whitney_p,
    normal_cdf,
    normal_quantile,
    normal_sf,
    sign_p,
    student_t_sf,
    wilcoxon_p,
)

SCORES = st.lists(st.integers(0, 30).map(float), min_size=1, max_size=25)


def about(value):
    # SciPy's own digits, far out, are wrong by some 1e-13.
    return pytest.approx(value, rel=1e-12, abs=1e-300)


@given(st.floats(-37, 37))
def test_normal(x):
    assert normal_cdf(x) == about(special.ndtr(x))
    assert normal_sf(x) == about(stats.norm.sf(x))


@given(st.floats(1e-300, 1, exclude_max=True) | st.floats(-300, 0).map(lambda digits: 10.0**digits))
def test_normal_quantile(p):
    assert normal_quantile(p) == pytest.approx(special.ndtri(p), rel=1e-12, abs=1e-15)


@given(st.floats(1e-12, 0.5))
def test_quantiles_come_back(p):
    assert normal_cdf(normal_quantile(p)) == about(p)


@given(st.floats(-1e4, 1e4) | st.floats(-3, 3), st.integers(1, 300))
def test_student(t, degrees):
    assert student_t_sf(t, degrees) == pytest.approx(stats.t.sf(t, degrees), rel=1e-11)


def test_ends_and_symmetry():
    assert (normal_cdf(math.inf), normal_cdf(-math.inf), normal_cdf(0.0)) == (1.0, 0.0, 0.5)
    assert math.isnan(normal_cdf(math.nan))
    assert (normal_quantile(0.5), normal_quantile(0.0), normal_quantile(1.0)) == (0.0, -math.inf, math.inf)
    assert normal_quantile(0.975) == -normal_quantile(1 - 0.975)
    assert all(math.isnan(normal_quantile(p)) for p in (-0.1, 1.1, math.nan))
    assert [student_t_sf(t, 3) for t in (0.0, math.inf, -math.inf)] == [0.5, 0.0, 1.0]
    assert math.isnan(student_t_sf(math.nan, 3))


@given(SCORES, SCORES)
def test_mann_whitney_with_ties(first, second):
    theirs = stats.mannwhitneyu(first, second, alternative="greater")
    ours = mann_whitney_p(np.array(first), np.array(second))
    assert ours == about(1.0 if math.isnan(theirs.pvalue) else theirs.pvalue)


@given(st.integers(1, 12), st.integers(1, 40), st.randoms(use_true_random=False))
def test_mann_whitney_without_ties(n, m, random):
    scores = random.sample(range(100), n + m)
    for first, second in ((scores[:n], scores[n:]), (scores[n:], scores[:n])):
        ours = mann_whitney_p(np.array(first, float), np.array(second, float))
        assert ours == about(stats.mannwhitneyu(first, second, alternative="greater").pvalue)


def test_mann_whitney_counts_every_order():
    for size in range(1, 7):
        for places in combinations(range(7), size):
            first = np.array(places, float)
            second = np.array([place for place in range(7) if place not in places], float)
            if len(second) == 0:
                continue
            larger = sum(a > b for a in first for b in second)
            orders = list(combinations(range(7), size))
            as_large = sum(sum(a > b for a in order for b in set(range(7)) - set(order)) >= larger for order in orders)
            assert mann_whitney_p(first, second) == as_large / len(orders)


@given(st.lists(st.integers(-12, 12).map(float), min_size=1, max_size=60), st.booleans())
def test_wilcoxon_with_ties(differences, two_sided):
    ours = wilcoxon_p(np.array(differences), two_sided=two_sided)
    if not any(differences):
        assert ours == 1.0
        return
    theirs = stats.wilcoxon(differences, alternative="two-sided" if two_sided else "greater")
    assert ours == about(theirs.pvalue)


@given(st.integers(1, 60), st.booleans(), st.randoms(use_true_random=False))
def test_wilcoxon_without_ties(n, two_sided, random):
    differences = [size * random.choice([-1.0, 1.0]) for size in random.sample(range(1, 100), n)]
    theirs = stats.wilcoxon(differences, alternative="two-sided" if two_sided else "greater")
    assert wilcoxon_p(np.array(differences), two_sided=two_sided) == about(theirs.pvalue)


@given(st.integers(1, 400).flatmap(lambda trials: st.tuples(st.integers(0, trials), st.just(trials))))
def test_sign_test(given_numbers):
    successes, trials = given_numbers
    assert sign_p(successes, trials) == about(stats.binomtest(successes, trials, alternative="greater").pvalue)
    ways = sum(math.comb(trials, number) for number in range(successes, trials + 1))
    assert sign_p(successes, trials) == float(Fraction(ways, 2**trials))
