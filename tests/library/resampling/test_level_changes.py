"""Changes of level, from runs that are given."""

import math

import numpy as np
import pytest

from steelyard.resampling.bootstrap_p import bootstrap_p
from steelyard.resampling.change_points import ChangePoint
from steelyard.resampling.interval import percentile_interval
from steelyard.resampling.level_changes import Reported, is_reported, level_change, runs_of_levels


def test_runs_without_a_score_are_on_no_level():
    values = np.array([5.0, 1, math.nan, 1, 3, math.nan, 3, 9])
    assert runs_of_levels(values, ChangePoint(at=4, before=1, after=7, p=0.01)) == ([1, 3], [4, 6])


def test_levels_are_means_of_runs():
    draws = np.random.default_rng(1).normal(size=(5, 200))
    found = level_change(np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0]), draws, 0.9)
    differences = np.array([math.fsum(each[2:]) / 3 - math.fsum(each[:2]) / 2 for each in draws.T])
    assert (found.before, found.after, found.difference) == (1.5, 4.0, 2.5)
    assert found.interval == percentile_interval(differences, 0.9)
    assert found.p == bootstrap_p(2.5, differences)


def test_without_replicates_a_change_is_not_tested():
    found = level_change(np.array([1.0]), np.array([3.0]), np.zeros((2, 0)), 0.9)
    assert (found.difference, found.interval) == (2.0, None)
    assert math.isnan(found.p)


@pytest.mark.parametrize(
    ("reported", "told"),
    [
        (Reported(20, True, 12), True),  # the change itself, a run off
        (Reported(20, True, 2), False),  # an earlier change
        (Reported(20, False, 12), False),  # one for the better
        (Reported(10, True, None), True),  # the run itself was worse than its baseline
        (Reported(16, True, None), False),  # an unlucky run later on
        (Reported(20, True, 8), True),
        (Reported(20, True, 7), False),
        (Reported(20, True, 14), True),
        (Reported(20, True, 15), False),
        (Reported(12, True, None), True),
        (Reported(13, True, None), False),
        (Reported(9, True, None), False),
    ],
)
def test_a_change_is_new_only_once(reported: Reported, told: bool) -> None:
    assert is_reported(ChangePoint(at=11, before=0, after=25, p=0.001), [reported], worse=True) is told
