from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import BadParameter
from steelyard.resampling.runs import mean_over_runs, rows_of_systems, run_spread, standard_deviation

numbers = st.floats(-1e3, 1e3)


@given(st.lists(numbers, min_size=2, max_size=20))
def test_standard_deviation_is_the_sample_one(values):
    assert standard_deviation(np.array(values)) == pytest.approx(statistics.stdev(values), rel=1e-9, abs=1e-9)


def test_standard_deviation_of_too_little():
    assert math.isnan(standard_deviation(np.array([1.0])))
    assert math.isnan(standard_deviation(np.zeros(0)))
    assert math.isnan(standard_deviation(np.array([1, 2, math.nan])))


def test_spread_by_hand():
    """Three runs; four replicates each, whose deviations are 1, 2 and 3 times 2 / sqrt(3)."""
    replicates = np.array([[9, 11, 9, 11], [18, 22, 18, 22], [27, 33, 27, 33]], float)
    spread = run_spread(np.array([10.0, 20.0, 30.0]), replicates)
    assert (spread.runs, spread.score) == (3, 20)
    assert spread.selection == pytest.approx(2 * 2 / math.sqrt(3))
    assert spread.optimization == 10
    assert spread.overall == pytest.approx(math.sqrt(16 / 3 + 100))
    assert spread.share_of_runs == pytest.approx(100 / (100 + 16 / 3))


def test_one_run_has_no_spread_between_runs():
    spread = run_spread(np.array([10.0]), np.array([[9.0, 11.0]]))
    assert spread.score == 10
    assert spread.selection == pytest.approx(math.sqrt(2))
    assert all(math.isnan(each) for each in (spread.optimization, spread.overall, spread.share_of_runs))


def test_equal_runs_without_replicates():
    spread = run_spread(np.array([5.0, 5.0]), np.zeros((2, 0)))
    assert math.isnan(spread.selection)
    assert spread.optimization == 0
    assert math.isnan(run_spread(np.array([5.0, 5.0]), np.full((2, 3), 5.0)).share_of_runs)


@given(st.lists(st.lists(numbers, min_size=1, max_size=4), min_size=1, max_size=4), st.randoms())
def test_means_are_exact_and_do_not_depend_on_the_order_of_runs(systems, random):
    runs = [len(system) for system in systems]
    found = mean_over_runs(np.array([x for system in systems for x in system]), runs)
    assert found.tolist() == [math.fsum(system) / len(system) for system in systems]
    mixed = [random.sample(system, len(system)) for system in systems]
    assert mean_over_runs(np.array([x for system in mixed for x in system]), runs).tolist() == found.tolist()


def test_means_of_arrays():
    values = np.arange(24.0).reshape(4, 2, 3)
    found = mean_over_runs(values, [1, 3])
    assert found.tolist() == [values[0].tolist(), values[1:].mean(axis=0).tolist()]
    assert mean_over_runs(values, None) is values
    assert mean_over_runs(values, [1, 1, 1, 1]) is values
    assert mean_over_runs(np.zeros((3, 0)), [2, 1]).shape == (2, 0)
    assert np.isnan(mean_over_runs(np.array([1, math.nan, 3]), [2, 1])).tolist() == [True, False]


def test_rows_of_systems():
    assert rows_of_systems(5, [2, 3]) == [range(2), range(2, 5)]
    assert rows_of_systems(2, None) == [range(1), range(1, 2)]
    with pytest.raises(BadParameter, match=r"5 outputs cannot be 2 \+ 2 runs"):
        rows_of_systems(5, [2, 2])
    with pytest.raises(BadParameter, match="1 outputs cannot be no runs"):
        rows_of_systems(1, [])
    with pytest.raises(BadParameter, match=r"3 outputs cannot be 3 \+ 0 runs"):
        rows_of_systems(3, [3, 0])
