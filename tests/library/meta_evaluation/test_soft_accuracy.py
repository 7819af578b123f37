"""Soft pairwise accuracy, against enumeration and another way of permuting."""

import itertools

import numpy as np
import pytest
from scipy import stats

from steelyard.meta_evaluation.soft_accuracy import better_p, soft_pairwise_accuracy


def exact_p(first, second):
    """Over all ways to let outputs change places, equal differences counted half."""
    differences = np.array(first) - np.array(second)
    sums = [float(np.dot(signs, differences)) for signs in itertools.product((1, -1), repeat=len(differences))]
    real = differences.sum()
    return np.mean([(total > real) + (total == real) / 2 for total in sums])


def test_p_values_are_those_of_all_permutations_within_sampling_error():
    scores = np.array([[8.0, 9, 7, 10, 6, 3], [2, 9, 1, 11, 0, 4], [8, 8, 8, 8, 8, 8]])
    found = better_p(scores, np.ones(scores.shape, bool), seed=7, permutations=20_000)
    for p, (a, b) in zip(found, [(0, 1), (0, 2), (1, 2)], strict=True):
        assert p == pytest.approx(exact_p(scores[a], scores[b]), abs=4 * 0.5 / 20_000**0.5)


def test_p_values_agree_with_scipy():
    scores = np.random.default_rng(1).normal(size=(2, 60)) + np.array([[0.1], [0.0]])
    (found,) = better_p(scores, np.ones(scores.shape, bool), seed=3, permutations=10_000)
    by_scipy = stats.permutation_test(
        tuple(scores), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples",
        alternative="greater", n_resamples=10_000, rng=np.random.default_rng(2),
    )  # fmt: skip
    assert found == pytest.approx(by_scipy.pvalue, abs=0.025)


def test_only_shared_segments_count():
    scores = np.array([[5.0, 5, 5, 0, 0, 0], [1, 1, 1, 9, 9, 9], [3, 3, 3, 3, 3, 3]])
    judged = np.array([[1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1]], bool)
    first, none, second = better_p(scores, judged, seed=1)
    assert first < 0.2
    assert np.isnan(none)
    assert second < 0.2
    scores[0, 3:] = np.nan
    assert better_p(scores, judged, seed=1)[0] == first


def test_the_order_of_systems_does_not_matter():
    scores = np.random.default_rng(4).integers(0, 3, (4, 30)).astype(np.float64)
    human = np.random.default_rng(5).integers(0, 3, (4, 30)).astype(np.float64)
    judged = np.ones(scores.shape, bool)
    order = np.array([2, 0, 3, 1])
    here = soft_pairwise_accuracy(better_p(human, judged, 9), better_p(scores, judged, 9))
    there = soft_pairwise_accuracy(better_p(human[order], judged, 9), better_p(scores[order], judged, 9))
    assert here == there


def test_identical_systems_are_a_toss_up():
    assert better_p(np.ones((2, 5)), np.ones((2, 5), bool), seed=1).tolist() == [0.5]


def test_accuracy_by_hand():
    human, metric = np.array([0.0, 0.5, 0.25]), np.array([0.5, 0.5, np.nan])
    assert soft_pairwise_accuracy(human, metric) == 1 - 0.25
    # The pairs ab, ac, bc of three systems: the second is drawn twice, the third not at all.
    counts = np.array([[1, 2, 0]])
    assert soft_pairwise_accuracy(np.array([0.0, 0.5, 0.25]), np.array([0.5, 0.5, 0.5]), counts).tolist() == [0.5]
    assert np.isnan(soft_pairwise_accuracy(np.array([np.nan]), np.array([0.5])))
