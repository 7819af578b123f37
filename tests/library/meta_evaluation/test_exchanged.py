"""Trials of all segments at once against the same trials one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.meta_evaluation.segment_statistic import SegmentStatistic
from steelyard.meta_evaluation.statistics import SEGMENT_STATISTICS
from steelyard.resampling.randomization import sign_flips


@settings(max_examples=40, deadline=None)
@pytest.mark.parametrize("statistic", SEGMENT_STATISTICS, ids=lambda each: each.name)
@given(st.data())
def test_as_one_by_one(statistic, data):
    systems, segments = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 90))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    human, first, second = rng.integers(0, data.draw(st.sampled_from([1, 3, 100])), (3, systems, segments)) / 3
    second = second + data.draw(st.sampled_from([0.0, 1e-7, 1e9])) + human * data.draw(st.sampled_from([0, 1]))
    human[rng.random(human.shape) < data.draw(st.sampled_from([0, 0.2, 0.9]))] = np.nan
    first, second = (np.where(np.isnan(human), np.nan, each) for each in (first, second))
    swapped = sign_flips(human.size, 7, 0, 5).reshape(5, *human.shape).astype(bool)
    swapped[0], swapped[1] = False, True
    found = statistic.exchanged(human, first, second)(swapped)
    expected = SegmentStatistic.exchanged(statistic, human, first, second)(swapped)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)


def test_no_trials():
    human, first, second = np.random.default_rng(1).random((3, 4, 20))
    for statistic in SEGMENT_STATISTICS:
        assert statistic.exchanged(human, first, second)(np.zeros((0, 4, 20), bool)).shape == (2, 0)
