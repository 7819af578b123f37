"""Many pairs at once give each the p-value that it has alone."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.resampling.bootstrap_p import bootstrap_p, bootstrap_p_values

# Few values, so that many replicates lie exactly as far from the mean as the difference does.
value = st.sampled_from([-2.0, -1.0, -0.1, 0.0, 0.1, 0.3, 1.0, 2.0, 1e-3, 1e9]) | st.floats(-100, 100)


@given(
    st.integers(1, 12).flatmap(
        lambda n: st.lists(st.tuples(value, st.lists(value, min_size=n, max_size=n)), min_size=1, max_size=6)
    )
)
def test_as_one_by_one(pairs):
    differences = np.array([difference for difference, _ in pairs])
    replicates = np.array([replicates for _, replicates in pairs])
    expected = [bootstrap_p(difference, row) for difference, row in zip(differences.tolist(), replicates, strict=True)]
    np.testing.assert_array_equal(bootstrap_p_values(differences, replicates), expected)


@pytest.mark.parametrize(
    ("difference", "replicates", "p"),
    [
        (math.nan, [0.0, 1.0], math.nan),
        (1.0, [1.0, math.nan], math.nan),
        (1.0, [], math.nan),
        # All alike say nothing of chance, unless the outputs are the same.
        (1.0, [1.0] * 1000, math.nan),
        (0.0, [1.0] * 1000, 1.0),
        (0.0, [0.0] * 1000, 1.0),
        # Around the mean 1 they lie 2, 1, 0 and 3 away.
        (2.0, [-1.0, 0.0, 1.0, 4.0], 3 / 5),
        (-2.5, [-1.0, 0.0, 1.0, 4.0], 2 / 5),
        (4.0, [-1.0, 0.0, 1.0, 4.0], 1 / 5),
    ],
)
def test_by_hand(difference, replicates, p):
    found = [bootstrap_p(difference, np.array(replicates))]
    if replicates:
        found.append(float(bootstrap_p_values(np.array([difference]), np.array([replicates]))[0]))
    np.testing.assert_array_equal(found, p)


def test_identical_outputs_and_undefined_scores():
    differences = np.array([0.0, math.nan, 1.0, 2.0, 5.0])
    replicates = np.array([[0.0] * 4, [1.0] * 4, [0.0, math.nan, 1.0, 2.0], [2.0] * 4, [4.0, 5.0, 5.0, 6.0]])
    p = bootstrap_p_values(differences, replicates)
    assert p[0] == 1
    assert np.isnan(p[1:4]).all()
    assert p[4] == 1 / 5


def test_most_pairs_of_real_size_need_no_exact_mean(monkeypatch):
    """What makes it quick: the way with exact sums is for few."""
    taken = []
    monkeypatch.setattr(
        "steelyard.resampling.bootstrap_p.bootstrap_p",
        lambda difference, row: taken.append(1) or bootstrap_p(difference, row),
    )
    replicates = np.random.default_rng(1).normal(30, 0.5, (40, 1000))
    differences = replicates[1:] - replicates[:-1]
    points = np.linspace(0, 2, len(differences))
    expected = [bootstrap_p(point, row) for point, row in zip(points.tolist(), differences, strict=True)]
    assert bootstrap_p_values(points, differences).tolist() == expected
    assert len(taken) <= 1


def test_replicates_that_lie_exactly_as_far_from_the_mean_as_the_difference_does():
    """NumPy's mean is often off by a last digit, which would decide such ties."""
    rows = np.random.default_rng(1).normal(0.3, 1.0, (400, 37))
    exact = np.array([math.fsum(row) / len(row) for row in rows.tolist()])
    assert (exact != rows.mean(axis=1)).sum() > 20, "otherwise this says nothing"
    differences = np.abs(rows[:, 5] - exact)
    expected = [(int((np.abs(row - mean) >= d).sum()) + 1) / 38 for d, row, mean in zip(
        differences.tolist(), rows, exact.tolist(), strict=True)]  # fmt: skip
    assert bootstrap_p_values(differences, rows).tolist() == expected
    assert [bootstrap_p(d, row) for d, row in zip(differences.tolist(), rows, strict=True)] == expected
