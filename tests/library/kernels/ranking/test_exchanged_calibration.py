from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.kernels.ranking.exchanged_calibration import bits_of_trials, exchanged_calibration


def best_sums(human, metric, share):
    """What all steps change, and the most on the way, behind the last step of each distance."""
    steps = []
    for one, other in itertools.combinations(range(len(human)), 2):
        by_human, by_metric = human[one] - human[other], metric[one] - metric[other]
        changing = (by_human == 0) & ~np.isnan(by_metric) | (by_human * by_metric > 0)
        worth = np.where(by_human == 0, share, -share)
        steps += [(abs(by_metric[k]), worth[k]) for k in np.flatnonzero(changing)]
    total = best = 0
    for _, together in itertools.groupby(sorted(steps), key=lambda step: step[0]):
        total += sum(int(worth) for _, worth in together)
        best = max(best, total)
    return total, best


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 7), st.integers(1, 80), st.sampled_from([2, 9, 10**6]), st.booleans(), st.integers(0, 999))
def test_against_steps_in_their_order(systems, segments, levels, outlier, seed):
    rng = np.random.default_rng(seed)
    human = rng.integers(0, 4, (systems, segments)).astype(np.float64)
    first, second = human[np.newaxis] / 4 + rng.integers(0, levels, (2, systems, segments)) / levels
    if outlier:
        second[0, 0] = 1e12
    missing = rng.random(human.shape) < 0.1
    human[missing] = np.nan
    if rng.random() < 0.5:
        first[missing] = second[missing] = np.nan
    share = rng.choice([1, 3, 2**20], segments)
    swapped = rng.random((70, systems, segments)) < 0.5
    sums, best = exchanged_calibration(human, first, second, share, bits_of_trials(swapped))
    assert sums.shape == best.shape == (2, 128)
    for trial in (0, 1, 63, 64, 69):
        mixed = [np.where(swapped[trial], *both) for both in ((second, first), (first, second))]
        expected = [best_sums(human, metric, share) for metric in mixed]
        assert list(zip(sums[:, trial].tolist(), best[:, trial].tolist(), strict=True)) == expected


@pytest.mark.parametrize("scale", [0.0, 5e-324, 1e-300, 1e300])
def test_distances_of_any_size(scale):
    rng = np.random.default_rng(3)
    human, share = rng.integers(0, 3, (4, 300)).astype(np.float64), np.ones(300, np.int64)
    first, second = rng.integers(0, 5, (2, 4, 300)) * scale
    swapped = rng.random((300, 4, 300)) < 0.5
    sums, best = exchanged_calibration(human, first, second, share, bits_of_trials(swapped))
    for trial in (0, 255, 256, 299):
        expected = best_sums(human, np.where(swapped[trial], second, first), share)
        assert (sums[0, trial], best[0, trial]) == expected
