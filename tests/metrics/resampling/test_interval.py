from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.errors import BadParameter
from metrics.resampling.interval import percentile_interval


@pytest.mark.parametrize(
    ("count", "level", "outside"),
    [(1000, 0.95, 25), (1000, 0.9, 50), (1000, 0.99, 5), (1000, 0.999, 0), (200, 0.95, 5), (100, 0.95, 2),
     (40, 0.95, 1), (39, 0.95, 0), (10, 0.95, 0), (1, 0.95, 0), (2000, 0.683, 317), (1000, 0.1, 450)],
)  # fmt: skip
def test_which_replicates_are_taken(count, level, outside):
    scores = np.random.default_rng(1).permutation(count).astype(float)
    assert percentile_interval(scores, level) == (outside, count - 1 - outside)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50), st.floats(0.001, 0.999))
def test_ends_are_replicates_in_order(scores, level):
    interval = percentile_interval(np.array(scores), level)
    assert interval is not None
    low, high = interval
    assert low in scores
    assert high in scores
    assert low <= high
    outside = sum(score < low for score in scores) + sum(score > high for score in scores)
    assert outside <= len(scores) * (1 - level) + 1e-9


def test_undefined_where_a_replicate_is():
    assert percentile_interval(np.array([1.0, math.nan, 2.0]), 0.95) is None
    assert percentile_interval(np.zeros(0), 0.95) is None


def test_scores_are_left_as_they_are():
    scores = np.array([3.0, 1.0, 2.0])
    percentile_interval(scores, 0.5)
    assert scores.tolist() == [3, 1, 2]


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 95.0, math.nan])
def test_levels_that_are_none(level):
    with pytest.raises(BadParameter, match="between 0 and 1"):
        percentile_interval(np.ones(3), level)
