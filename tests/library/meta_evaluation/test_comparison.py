"""Tests between two metrics, by hand, against enumeration and by their behaviour where nothing is to be found."""

import itertools

import numpy as np
import pytest
from scipy import stats

from steelyard.meta_evaluation import comparison
from steelyard.meta_evaluation.comparison import permutation_p, williams_p
from steelyard.meta_evaluation.statistics import segment_statistic
from steelyard.meta_evaluation.system import pearson


def test_williams_by_hand():
    # r1 = 0.8, r2 = 0.5, r12 = 0.6, n = 10: K = 1 - .64 - .25 - .36 + .48 = 0.23; mean 0.65;
    # t = 0.3 sqrt(9 x 1.6) / sqrt(2 x 0.23 x 9/7 + 0.4225 x 0.064) = 1.138420 / 0.786428 = 1.447584, 7 degrees.
    assert williams_p(0.8, 0.5, 0.6, 10) == pytest.approx(2 * stats.t.sf(1.447584, 7), abs=1e-6)
    assert williams_p(0.5, 0.8, 0.6, 10) == williams_p(0.8, 0.5, 0.6, 10)


def test_williams_where_there_is_nothing_to_say():
    assert williams_p(0.7, 0.7, 1.0, 10) == 1
    assert np.isnan(williams_p(0.7, 0.6, 0.5, 3))
    assert np.isnan(williams_p(np.nan, 0.6, 0.5, 10))
    assert np.isnan(williams_p(0.3, -0.3, -1.0, 10))
    # One degree of freedom is enough: t = 0.1 sqrt(3 x 1.5) / sqrt(2 x 0.32 x 3 + 0.4225 x 0.125).
    assert williams_p(0.7, 0.6, 0.5, 4) == pytest.approx(2 * stats.t.sf(0.1 * 4.5**0.5 / 1.9728125**0.5, 1), abs=1e-9)


def test_williams_of_a_metric_and_the_same_on_another_scale():
    # The two correlations are equal but for the last digit, and that of the metrics is 1.
    generator = np.random.default_rng(1)
    human, metric = generator.normal(size=(2, 200, 10))
    other = metric * generator.uniform(0.1, 3, (200, 1)) + generator.normal(size=(200, 1))
    correlations = zip(pearson(human, metric), pearson(human, other), pearson(metric, other), strict=True)
    assert [williams_p(*three, 10) for three in correlations] == [1] * 200


def test_williams_finds_false_differences_as_often_as_it_says():
    generator = np.random.default_rng(8)
    human = generator.normal(size=(2000, 1, 12))
    metrics = human + generator.normal(size=(2000, 2, 12))
    r1, r2 = pearson(human[:, 0], metrics[:, 0]), pearson(human[:, 0], metrics[:, 1])
    between = pearson(metrics[:, 0], metrics[:, 1])
    p = np.array([williams_p(*three, 12) for three in zip(r1, r2, between, strict=True)])
    assert (p < 0.05).mean() == pytest.approx(0.05, abs=0.02)


def standardised(scores):
    return (scores - scores.mean()) / scores.std()


def test_few_systems_are_enumerated():
    human = np.array([1.0, 2, 4, 5])
    one, other = np.array([1.0, 2, 3, 5]), np.array([20.0, 10, 30, 15])
    a, b = standardised(one), standardised(other)
    real = pearson(human, a) - pearson(human, b)
    as_large = 0
    for swap in itertools.product((False, True), repeat=4):
        difference = pearson(human, np.where(swap, b, a)) - pearson(human, np.where(swap, a, b))
        as_large += abs(difference) >= abs(real) - 1e-12
    found = permutation_p(lambda stack: pearson(human, stack), one, other, seed=1)
    assert found == as_large / 16
    assert 2 / 16 <= found < 1


def test_sampling_comes_near_enumeration_and_is_the_same_again():
    generator = np.random.default_rng(6)
    human, one, other = generator.normal(size=(3, 10))
    one = human + one

    def statistic(stack):
        return pearson(human, stack)

    exact = permutation_p(statistic, one, other, seed=1, trials=1024)
    sampled = permutation_p(statistic, one, other, seed=1, trials=1000)
    assert exact * 1024 % 2 == 0, "a way and its opposite are equally large"
    assert sampled == pytest.approx(exact, abs=0.06)
    assert sampled == permutation_p(statistic, one, other, seed=1, trials=1000)
    assert sampled == permutation_p(statistic, other, one, seed=1, trials=1000)


@pytest.mark.parametrize(
    ("places", "trials", "expected"), [(20, 600, [601]), (100, 130, [100, 31]), (4_000, 130, [64, 64, 3])]
)
def test_trials_are_made_in_portions_that_fit_into_memory(places, trials, expected, monkeypatch):
    """So many scores at a time, and at least as many trials as kernels work on side by side."""
    monkeypatch.setattr(comparison, "CELLS_AT_ONCE", 10_000 if places > 20 else 1 << 25)
    seen = []

    def statistic(stack):
        seen.append(len(stack))
        return np.zeros(len(stack))

    scores = np.arange(float(places))
    assert permutation_p(statistic, scores, scores[::-1], seed=1, trials=trials) == 1
    # Both metrics in each portion; the real difference is before the first trial.
    assert seen == [*np.repeat(expected, 2)]


def test_the_same_metric_twice_differs_from_nothing():
    human, metric = np.random.default_rng(2).normal(size=(2, 8))
    assert permutation_p(lambda stack: pearson(human, stack), metric, metric * 10 + 3, seed=1) == 1


def test_segments_change_places_one_by_one_and_gaps_stay():
    generator = np.random.default_rng(7)
    human = generator.normal(size=(4, 30))
    human[generator.random(human.shape) < 0.2] = np.nan
    good, bad = human + 0.3 * generator.normal(size=human.shape), generator.normal(size=human.shape)
    bad[0, 0] = np.nan
    kendall = segment_statistic("kendall-wmt14")

    def statistic(stack):
        return np.array([kendall.value(human, each) for each in stack])

    assert permutation_p(statistic, good, bad, seed=1, trials=200) == 1 / 201


def test_an_undefined_statistic_has_no_p():
    human = np.array([1.0, 2, 3])
    assert np.isnan(permutation_p(lambda stack: pearson(human, stack), np.ones(3), human, seed=1))
    nothing = np.full(3, np.nan)
    assert np.isnan(permutation_p(lambda stack: pearson(human, stack), nothing, human, seed=1))


def test_a_trial_without_a_result_is_no_evidence():
    first, second = np.array([1.0, 2, 4, 9]), np.array([3.0, 1, 2, 5])

    def of_some(stack):
        """Undefined where the second score is the other metric's and the first is not; else, the mean is squared."""
        mine = (np.abs(stack[:, None] - standardised(first)) < 1e-9)[:, 0]
        lost = mine[:, 0] != mine[:, 1]
        return np.where(lost, np.nan, (stack * [5.0, 1, 2, 3]).sum(1) ** 2)

    # Eight of the sixteen ways are undefined; all of them count against a difference.
    p = permutation_p(of_some, first, second, seed=3, trials=16)
    with_all = permutation_p(lambda stack: (stack * [5.0, 1, 2, 3]).sum(1) ** 2, first, second, seed=3, trials=16)
    assert 8 / 16 < p <= 1
    assert p >= with_all
