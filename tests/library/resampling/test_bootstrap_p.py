"""Many pairs at once give each the p-value that it has alone."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import BadArray
from steelyard.resampling.bootstrap_p import bootstrap_p, bootstrap_p_values

# Few values, so that many replicates lie exactly as far from the mean as the difference does.
value = st.sampled_from([-2.0, -1.0, -0.1, 0.0, 0.1, 0.3, 1.0, 2.0, 1e-3, 1e9]) | st.floats(-100, 100)


def p_of_rows(differences, rows):
    """The p-values of systems against one whose score and replicates are all 0."""
    scores, replicates = np.append(0.0, differences), np.vstack([np.zeros(np.shape(rows)[1]), rows])
    pairs = np.array([[0, system] for system in range(1, len(scores))])
    return bootstrap_p_values(scores, replicates, pairs)


@given(
    # As many as are worked on side by side, fewer and more.
    st.integers(1, 20).flatmap(
        lambda n: st.lists(st.tuples(value, st.lists(value, min_size=n, max_size=n)), min_size=1, max_size=6)
    )
)
def test_as_one_by_one(pairs):
    differences = np.array([difference for difference, _ in pairs])
    replicates = np.array([replicates for _, replicates in pairs])
    expected = [bootstrap_p(difference, row) for difference, row in zip(differences.tolist(), replicates, strict=True)]
    np.testing.assert_array_equal(p_of_rows(differences, replicates), expected)


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
    found = [bootstrap_p(difference, np.array(replicates)), *p_of_rows([difference], np.array([replicates]))]
    np.testing.assert_array_equal(found, p)


def test_identical_outputs_and_undefined_scores():
    differences = np.array([0.0, math.nan, 1.0, 2.0, 5.0])
    replicates = np.array([[0.0] * 4, [1.0] * 4, [0.0, math.nan, 1.0, 2.0], [2.0] * 4, [4.0, 5.0, 5.0, 6.0]])
    p = p_of_rows(differences, replicates)
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
    assert p_of_rows(points, differences).tolist() == expected
    assert len(taken) <= 1


def test_replicates_that_lie_exactly_as_far_from_the_mean_as_the_difference_does():
    """NumPy's mean is often off by a last digit, which would decide such ties."""
    rows = np.random.default_rng(1).normal(0.3, 1.0, (400, 37))
    exact = np.array([math.fsum(row) / len(row) for row in rows.tolist()])
    assert (exact != rows.mean(axis=1)).sum() > 20, "otherwise this says nothing"
    differences = np.abs(rows[:, 5] - exact)
    expected = [(int((np.abs(row - mean) >= d).sum()) + 1) / 38 for d, row, mean in zip(
        differences.tolist(), rows, exact.tolist(), strict=True)]  # fmt: skip
    assert p_of_rows(differences, rows).tolist() == expected
    assert [bootstrap_p(d, row) for d, row in zip(differences.tolist(), rows, strict=True)] == expected


def test_pairs_of_many_systems_in_any_order():
    rng = np.random.default_rng(2)
    scores, replicates = rng.normal(30, 1, 9), rng.normal(30, 1, (9, 101))
    pairs = rng.integers(0, 9, (50, 2))
    expected = [bootstrap_p(float(scores[b] - scores[a]), replicates[b] - replicates[a]) for a, b in pairs]
    assert bootstrap_p_values(scores, replicates, pairs).tolist() == expected
    assert bootstrap_p_values(scores, np.asfortranarray(replicates), pairs.astype(np.int32)).tolist() == expected
    assert bootstrap_p_values(scores, replicates, pairs[:0]).tolist() == []


@pytest.mark.parametrize("pair", [(0, 2), (-1, 0)])
def test_a_system_that_is_not_there_is_refused(pair):
    with pytest.raises(BadArray, match="Pairs name systems"):
        bootstrap_p_values(np.zeros(2), np.zeros((2, 3)), np.array([pair]))
