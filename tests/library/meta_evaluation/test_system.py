"""Agreement of system scores, against scipy and by hand."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from steelyard.meta_evaluation.statistics import DEFAULT_SEGMENT, DEFAULT_SYSTEM, SEGMENT_STATISTICS, SYSTEM_STATISTICS
from steelyard.meta_evaluation.system import better_or_equal_share, kendall_tau_b, pairwise_accuracy, pearson, spearman

SCIPY = {pearson: stats.pearsonr, spearman: stats.spearmanr, kendall_tau_b: stats.kendalltau}
FEW_VALUES = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(0, 3)), min_size=2, max_size=8)


@pytest.mark.parametrize("ours", SCIPY, ids=lambda function: function.__name__)
@given(rows=FEW_VALUES)
def test_equals_scipy_with_every_system_written_as_often_as_it_counts(ours, rows):
    human, metric, counts = np.array(rows, np.float64).T
    long = [np.repeat(scores, counts.astype(int)) for scores in (human, metric)]
    found = float(ours(human, metric, counts))
    if len(long[0]) < 2 or any(np.ptp(scores) == 0 for scores in long):
        assert np.isnan(found)
    else:
        assert found == pytest.approx(SCIPY[ours](*long).statistic, abs=1e-12)
        assert float(ours(human, metric * 7 + 3, counts)) == pytest.approx(found, abs=1e-12)
        assert float(ours(human, -metric, counts)) == pytest.approx(-found, abs=1e-12)


@given(rows=FEW_VALUES)
def test_pairwise_accuracy_counts_pairs_of_different_systems(rows):
    human, metric, counts = np.array(rows, np.float64).T
    agreed = total = 0
    for a, b in itertools.combinations(range(len(rows)), 2):
        times = counts[a] * counts[b]
        total += times
        agreed += times * (np.sign(human[a] - human[b]) == np.sign(metric[a] - metric[b]))
    found = float(pairwise_accuracy(human, metric, counts))
    assert np.isnan(found) if total == 0 else found == agreed / total


def test_many_replicates_at_once_are_those_one_by_one():
    generator = np.random.default_rng(5)
    human, metric = generator.normal(size=(2, 30, 7))
    counts = generator.integers(0, 3, (30, 7))
    for function in (*SCIPY, pairwise_accuracy):
        together = function(human, metric, counts)
        assert together.tolist() == [float(function(*rows)) for rows in zip(human, metric, counts, strict=True)]


def test_what_was_not_drawn_has_no_part_in_it_however_large():
    human, metric, counts = np.array([1.0, 2, 4, 1e200]), np.array([2.0, 1, 3, 1e200]), np.array([1, 1, 1, 0])
    for function in (*SCIPY, pairwise_accuracy):
        assert float(function(human, metric, counts)) == float(function(human[:3], metric[:3]))


def test_an_unknown_score_makes_the_statistic_unknown():
    human, metric = np.array([1.0, 2.0, 3.0]), np.array([1.0, np.nan, 3.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(np.isnan(function(human, metric)) for function in (*SCIPY, pairwise_accuracy))


@pytest.mark.parametrize("statistic", [pearson, spearman, kendall_tau_b, pairwise_accuracy])
def test_no_system_at_all_has_no_statistic(statistic):
    nothing = np.zeros(0)
    assert np.isnan(statistic(nothing, nothing))
    assert np.isnan(statistic(nothing, nothing, np.zeros((3, 0)))).tolist() == [True] * 3


def test_pairwise_accuracy_by_hand():
    # Pairs: ab agreed, ac agreed, bc parted by people only.
    assert pairwise_accuracy(np.array([1.0, 2.0, 3.0]), np.array([5.0, 9.0, 9.0])) == pytest.approx(2 / 3)
    assert pairwise_accuracy(np.array([1.0, 2.0, 2.0]), np.array([5.0, 9.0, 9.0])) == 1
    assert np.isnan(pairwise_accuracy(np.array([1.0]), np.array([2.0])))


def test_better_or_equal_share_by_hand():
    # Segment 0: a > b = c; segment 1: only a and b, a < b; segment 2: only c.
    segments = np.array([[3.0, 1.0, np.nan], [2.0, 2.0, np.nan], [2.0, np.nan, 5.0]])
    assert better_or_equal_share(segments).tolist() == [2 / 3, 2 / 3, 1 / 2]
    assert np.isnan(better_or_equal_share(segments[:1])).all()


@given(scores=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=6))
def test_pearson_stays_between_minus_one_and_one(scores):
    assume(len(set(scores)) > 1)
    human = np.array(scores)
    assert pearson(human, human * 3) <= 1


def test_what_each_statistic_counts_and_takes():
    assert [(each.name, each.unit, each.by_share, each.values) for each in SYSTEM_STATISTICS] == [
        ("pearson", "systems", False, pearson),
        ("spearman", "systems", False, spearman),
        ("kendall", "systems", False, kendall_tau_b),
        ("pairwise", "pairs", False, pairwise_accuracy),
        ("soft-pairwise", "pairs", False, None),
        ("spearman-share", "systems", True, spearman),
    ]
    assert {*DEFAULT_SYSTEM} < {each.name for each in SYSTEM_STATISTICS}
    by_name = {each.name: each for each in SEGMENT_STATISTICS}
    assert {*DEFAULT_SEGMENT} < by_name.keys()
    assert {name: each.unit for name, each in by_name.items()} == {
        **dict.fromkeys(("acc-eq", "kendall-wmt14", "kendall-da"), "pairs"),
        **dict.fromkeys(("kendall-by-segment", "spearman-by-segment", "acc"), "segments"),
        **dict.fromkeys(("pearson", "kendall"), "cells"),
        "pearson-by-system": "systems",
    }
