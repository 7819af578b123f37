"""Against the best of several: the promise is kept although the best was chosen."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.resampling.best_of import bootstrap_best_p
from steelyard.resampling.bootstrap_p import bootstrap_p

REPLICATES, SEGMENTS = 300, 100


def equal_nights(seed, nights):
    """Losses of a night to so many others that are as good, and those of replicates."""
    draw = np.random.default_rng(seed)
    segments = draw.standard_normal((nights + 1, SEGMENTS)) + draw.standard_normal(SEGMENTS)
    counts = draw.multinomial(SEGMENTS, [1 / SEGMENTS] * SEGMENTS, REPLICATES)
    scores, replicates = segments.mean(axis=1), segments @ counts.T / SEGMENTS
    return scores[1:] - scores[0], replicates[1:] - replicates[0]


def test_the_best_of_many_that_are_as_good_is_no_regression():
    """A plain test against the best alone finds several times what it promises; this one does not."""
    plain = found = 0
    for seed in range(200):
        losses, replicates = equal_nights(seed, 20)
        best = int(np.argmax(losses))
        plain += losses[best] > 0 and bootstrap_p(float(losses[best]), replicates[best]) < 0.05
        found += losses[best] > 0 and bootstrap_best_p(losses, replicates) < 0.05
    assert plain > 40, "nothing to be put right: no test of this"
    assert found <= 18


def test_a_night_that_is_worse_than_all_is_found():
    losses, replicates = equal_nights(1, 20)
    assert bootstrap_best_p(losses + 1.5, replicates + 1.5) == pytest.approx(2 / (REPLICATES + 1))


@given(st.integers(0, 50), st.floats(-1, 1))
def test_one_candidate_is_the_plain_test(seed, shift):
    losses, replicates = equal_nights(seed, 1)
    losses, replicates = losses + shift, replicates + shift
    assert bootstrap_best_p(losses, replicates) == bootstrap_p(float(losses[0]), replicates[0])


@given(st.integers(0, 50), st.integers(2, 6), st.permutations(range(6)))
def test_the_order_of_candidates_does_not_matter_and_p_is_never_below_the_plain_one(seed, nights, order):
    losses, replicates = equal_nights(seed, nights)
    p = bootstrap_best_p(losses, replicates)
    chosen = [each for each in order if each < nights]
    assert bootstrap_best_p(losses[chosen], replicates[chosen]) == p
    best = int(np.argmax(losses))
    assert bootstrap_p(float(losses[best]), replicates[best]) <= p <= 1


def test_where_none_is_better_it_is_the_plain_test_of_the_best():
    losses, replicates = equal_nights(1, 20)
    losses, replicates = losses - 0.5, replicates - 0.5
    best = int(np.argmax(losses))
    plain = bootstrap_p(float(losses[best]), replicates[best])
    assert losses[best] < 0
    assert bootstrap_best_p(losses, replicates) == plain < 1


def test_undefined_replicates():
    """A candidate that has one is left out; the best that has one cannot be tested."""
    losses, replicates = equal_nights(3, 4)
    order = np.argsort(-losses)
    replicates[order[1], 0] = math.nan
    known = [each for each in range(4) if each != order[1]]
    assert bootstrap_best_p(losses, replicates) == bootstrap_best_p(losses[known], replicates[known])
    replicates[order[0], 0] = math.nan
    assert math.isnan(bootstrap_best_p(losses, replicates))


def test_by_hand():
    """Moved to their means, the replicates of the two candidates that are defined lie at most 2, -1, 2 and 1 above."""
    losses = np.array([2.0, 1.5, 0.5])
    replicates = np.array([[3.0, 0.0, 1.0, 0.0], [-1.0, 0.0, 3.0, 2.0], [0.5, math.nan, 0.5, 0.5]])
    assert bootstrap_best_p(losses, replicates) == 1.0, "2 x (2 + 1) / 5 is more than 1"
    wide = np.array([[3.0, 0.0, 1.0, *[1.0] * 37], [-1.0, 0.0, 3.0, *[1.0] * 37]])
    means = wide.mean(axis=1)
    assert means.tolist() == [1.025, 0.975]
    # Only 3 - 0.975 is as large as 2, and 3 - 1.025 is not; of one candidate -1 - 0.975 is not, either.
    assert bootstrap_best_p(losses[:2], wide) == pytest.approx(2 * 2 / 41)
    # As large as the largest loss counts, too.
    assert bootstrap_best_p(np.array([2.0, 1.0]), np.array([[3.0, -1.0, *[1.0] * 38], [1.0] * 40])) == 4 / 41


def test_it_is_never_surer_than_the_plain_test_of_the_best():
    """Replicates lie far below their mean, not above it: two sides say more than twice the one."""
    replicates = np.array([[-0.5] * 4 + [1.5] * 12, [0.5] * 16])
    assert bootstrap_best_p(np.array([1.0, 0.5]), replicates) == bootstrap_p(1.0, replicates[0]) == 5 / 17


def test_without_any_defined_candidate_it_is_undefined():
    replicates = np.full((2, 4), math.nan)
    assert math.isnan(bootstrap_best_p(np.array([2.0, 1.0]), replicates))
    # Where another one alone is defined, the best is undefined all the same.
    replicates[1] = [1.0, 0.0, 2.0, 1.0]
    assert math.isnan(bootstrap_best_p(np.array([2.0, 1.0]), replicates))
