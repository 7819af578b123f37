from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap, norm

from steelyard.errors import BadParameter
from steelyard.resampling.interval import bca_shares, interval, percentile_interval, percentile_intervals


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


def bca(replicates, level, score, left_out):
    return interval("bca", np.array(replicates, float), level, score, np.array(left_out, float))


def scipys(data, replicates, level, statistic):
    """The BCa interval that scipy makes of the very same replicates."""
    made = SimpleNamespace(bootstrap_distribution=np.array(replicates))
    return bootstrap(
        (data,), statistic, method="BCa", confidence_level=level, n_resamples=0, bootstrap_result=made, axis=-1
    ).confidence_interval


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from([0.9, 0.95, 0.99]), st.sampled_from(["mean", "ratio", "cubes"]))
def test_bca_is_scipys(seed, level, which):
    """Scipy interpolates between replicates, we take one of the two."""
    statistics = {
        "mean": lambda x, axis=-1: np.mean(x, axis=axis),
        "ratio": lambda x, axis=-1: np.mean(x, axis=axis) / np.std(x, axis=axis),
        "cubes": lambda x, axis=-1: np.mean(x**3, axis=axis),
    }
    statistic = statistics[which]
    rng = np.random.default_rng(seed)
    data = rng.exponential(size=30)
    replicates = statistic(rng.choice(data, (999, 30)))
    score = float(statistic(data))
    left_out = np.array([statistic(np.delete(data, i)) for i in range(30)])
    theirs = scipys(data, replicates, level, statistic)
    shares = bca_shares(replicates, level, score, left_out)
    # Scipy's own interpolation at our shares gives scipy's ends.
    assert np.quantile(replicates, shares) == pytest.approx([theirs.low, theirs.high], rel=1e-9)
    ordered = np.sort(replicates)
    for ours, share in zip(bca(replicates, level, score, left_out), shares, strict=True):
        at = ordered.searchsorted(ours)
        assert abs(at - share * 999) <= 1 + 1e-6


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99, 0.999])
@pytest.mark.parametrize("count", [1, 2, 10, 39, 40, 100, 1000, 10_000])
def test_without_bias_and_skewness_bca_is_percentile(count, level):
    replicates = np.random.default_rng(1).permutation(count).astype(float)
    middle = (count - 1) / 2
    assert bca(replicates, level, middle, [1, 2, 3]) == percentile_interval(replicates, level)


def test_bias_and_skewness_move_the_interval():
    replicates = np.arange(1000.0)
    low, high = bca(replicates, 0.95, 449.5, [1, 2, 3])
    shares = norm.cdf(2 * norm.ppf(0.45) + np.array([-1, 1]) * norm.isf(0.025))
    assert (low, high) == (math.floor(1000 * shares[0]), 999 - math.floor(1000 * (1 - shares[1])))
    assert (low, high) == (13, 956)
    skewed = bca(replicates, 0.95, 499.5, [*[1.0] * 100, 0.0, 0.0])
    assert skewed[0] > 24 + 1
    assert skewed[1] > 974


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=40), st.integers(-5, 5), st.data())
def test_bca_ends_are_replicates_in_order(replicates, score, data):
    left_out = data.draw(st.lists(st.integers(-5, 5), min_size=1, max_size=8))
    found = bca(replicates, 0.9, score, left_out)
    one_sided = not min(replicates) <= score <= max(replicates)
    if one_sided:
        assert found is None
    if found is not None:
        assert found[0] in replicates
        assert found[1] in replicates
        assert found[0] <= found[1]


def test_turned_around():
    """The interval of minus the score is minus the interval."""
    rng = np.random.default_rng(4)
    replicates, left_out = rng.gamma(2, size=999), rng.gamma(2, size=50)
    low, high = bca(replicates, 0.95, 1.7, left_out)
    assert bca(-replicates, 0.95, -1.7, -left_out) == (-high, -low)


@pytest.mark.parametrize("power", [-600, 600])
def test_the_unit_of_scores_does_not_matter(power):
    """Not even where their squares would vanish or overflow."""
    rng = np.random.default_rng(4)
    replicates, left_out, unit = rng.gamma(2, size=99), rng.gamma(2, size=50), 2.0**power
    shares = bca_shares(replicates, 0.95, 1.7, left_out)
    assert bca_shares(unit * replicates, 0.95, unit * 1.7, unit * left_out) == shares
    assert shares != bca_shares(replicates, 0.95, 1.7, np.ones(50))


def test_ties():
    assert bca([4.0] * 100, 0.95, 4.0, [4.0] * 10) == (4, 4)
    assert bca([1.0] * 50 + [2.0] * 50, 0.95, 1.5, [0.1 + 0.2, 0.3]) == (1, 2)


def test_where_bca_is_undefined():
    assert bca([1, 2, 3], 0.95, 0.5, [1, 2]) is None
    assert bca([1, 2, 3], 0.95, 3.5, [1, 2]) is None
    assert bca([1, 2, math.nan], 0.95, 2, [1, 2]) is None
    assert bca([1, 2, 3], 0.95, math.nan, [1, 2]) is None
    assert bca([1, 2, 3], 0.95, 2, [1, math.nan]) is None
    assert bca([], 0.95, 2, [1, 2]) is None
    # One segment decides nearly everything: a (z0 + z) is beyond 1.
    assert bca(np.arange(1000), 0.95, 990.5, [0.0, *[1.0] * 40]) is not None
    assert bca(np.arange(1000), 0.9999999, 990.5, [0.0, *[1.0] * 40]) is None


def test_one_segment_and_none():
    assert bca([7, 7, 7], 0.95, 7, [0]) == (7, 7)
    assert bca([7, 7, 7], 0.95, 7, []) == (7, 7)


def test_kinds_of_intervals():
    scores = np.arange(100.0)
    assert interval("percentile", scores, 0.9) == percentile_interval(scores, 0.9)
    with pytest.raises(BadParameter, match=r"no interval \"normal\".*percentile, bca"):
        interval("normal", scores, 0.9)
    with pytest.raises(BadParameter, match="scores without each segment"):
        interval("bca", scores, 0.9, 3.0)
    with pytest.raises(BadParameter, match="between 0 and 1"):
        bca(scores, 95, 50, [1, 2])


def test_intervals_of_many_are_those_of_each():
    rows = np.random.default_rng(5).normal(size=(7, 41))
    rows[2, 3] = rows[4, 0] = np.nan
    assert percentile_intervals(rows, 0.9) == [percentile_interval(row, 0.9) for row in rows]
    assert [ends is None for ends in percentile_intervals(rows, 0.9)] == [False, False, True, False, True, False, False]
    assert percentile_intervals(rows[:, :0], 0.9) == [None] * 7
    ordered = sorted(rows[0])
    assert percentile_intervals(rows[:1], 0.9) == [(ordered[2], ordered[38])]
