from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from steelyard.kernels.ranking.rank_sums import rank_sums


@given(st.integers(0, 12), st.integers(0, 20), st.sampled_from([1, 3, 50]), st.integers(0, 999))
def test_against_ranks_of_scipy(systems, segments, largest, seed):
    rng = np.random.default_rng(seed)
    human, metric = rng.integers(0, largest, (2, systems, segments)) / 3
    missing = rng.random((systems, segments)) < 0.2
    human[missing] = metric[missing] = np.nan
    expected = []
    for segment in range(segments):
        known = ~missing[:, segment]
        x, y = (rankdata(each[known, segment]) - (known.sum() + 1) / 2 for each in (human, metric))
        expected.append([4 * (x * y).sum(), 4 * (x * x).sum(), 4 * (y * y).sum()])
    assert rank_sums(human, metric).T.tolist() == expected
