from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from steelyard.kernels.ranking.kendall import dense_ranks, tau_b


def ours(x, y):
    x, y = dense_ranks(x), dense_ranks(y)
    order = np.argsort(x, kind="stable")
    return tau_b(x[order], y[order])


@given(st.integers(0, 300), st.sampled_from([1, 2, 5, 1000]), st.sampled_from([1, 2, 5, 1000]), st.integers(0, 999))
def test_equals_scipy_to_the_bit(length, of_x, of_y, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, of_x, length) / 7, rng.integers(0, of_y, length) / 7
    expected = kendalltau(x, y).statistic if length > 1 else math.nan
    found = ours(x, y)
    assert found == expected or (math.isnan(found) and math.isnan(expected))


@pytest.mark.parametrize("turned", [1, -1])
def test_many_scores(turned):
    scores = np.random.default_rng(1).normal(size=5000)
    assert ours(scores, turned * scores) == turned
    other = scores + np.random.default_rng(2).normal(size=5000)
    assert ours(scores, other) == kendalltau(scores, other).statistic


def test_nothing_is_changed():
    first, second = np.array([0, 1, 1], np.int32), np.array([2, 1, 0], np.int32)
    tau_b(first, second)
    assert second.tolist() == [2, 1, 0]


def test_ranks_of_any_shape():
    assert dense_ranks(np.array([[3.5, -1.0], [3.5, 2.0]])).tolist() == [[2, 0], [2, 1]]
