from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from steelyard.kernels.ranking.half_wins import half_wins


@given(st.integers(1, 6), st.integers(0, 40), st.sampled_from([1, 3, 50]), st.integers(0, 999))
def test_against_counting(height, columns, largest, seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, largest, (height, columns)) / 3
    rows[rng.random(rows.shape) < 0.1] = np.nan
    left, right = rng.integers(0, height, (2, 7))
    expected = [
        sum(2 * (x > y) + (x == y) for x, y in zip(rows[one], rows[other], strict=True))
        for one, other in zip(left, right, strict=True)
    ]
    assert half_wins(rows, left, right).tolist() == expected
