from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.kernels.ranking.exchanged_wins import LANES, bits_of_segments, exchanged_half_wins, exchanged_sums


@given(st.integers(1, 3), st.integers(1, 4), st.integers(0, 60), st.integers(1, 20), st.integers(0, 999))
def test_sums_are_those_of_the_cells_that_are_exchanged_and_turned(metrics, rows, segments, permutations, seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(-(2**26), 2**26, (metrics, rows, segments)) / 2**24
    swapped, turned = rng.random((rows, segments, LANES)) < 0.5, rng.integers(0, 2, (permutations, segments))
    found = exchanged_sums(scores, swapped, bits_of_segments(turned.astype(np.uint8)))
    np.testing.assert_array_equal(found, np.einsum("mrk,rkt,pk->mrpt", scores, swapped, turned))


@settings(max_examples=60)
@given(st.integers(1, 5), st.integers(0, 40), st.sampled_from([1, 3, 2**20, 2**30]), st.integers(0, 999))
def test_wins_against_counting(rows, permutations, largest, seed):
    """Of few different sums, of many, and of sums that small integers do not tell apart."""
    rng = np.random.default_rng(seed)
    moved = rng.integers(0, largest, (3, rows, permutations, LANES)) / 2**24
    moved[:, 0] += rng.choice([0.0, 1e6])
    whole = rng.integers(0, largest, moved.shape[:-1]) / 2**24
    compared, (left, right) = np.array([(0, 1), (2, 0)]), rng.integers(0, rows, (2, 7))
    counts = np.full((2, 2, 7, LANES), 5, np.int32)
    exchanged_half_wins(whole, moved, compared, left, right, counts)
    for number, both in enumerate(compared):
        for side, (one, other) in enumerate([both, both[::-1]]):
            sums = whole[one][..., np.newaxis] - moved[one] + moved[other]
            a, b = sums[left], sums[right]
            expected = 5 + (2 * (a > b) + (a == b)).sum(axis=1)
            np.testing.assert_array_equal(counts[side, number], expected)
