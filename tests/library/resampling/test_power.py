from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from steelyard.errors import BadParameter
from steelyard.resampling.power import power_at, segments_needed, smallest_difference


def test_the_usual_figures():
    """1.96 + 0.84 standard deviations: Cohen's 2.80."""
    assert smallest_difference(1.0) == pytest.approx(1.959964 + 0.841621, abs=1e-6)
    assert smallest_difference(0.3, alpha=0.01, power=0.9) == pytest.approx(0.3 * (norm.isf(0.005) + norm.isf(0.1)))
    assert segments_needed(0.5, 0.5, 1000) == math.ceil(1000 * 2.8015852**2)
    assert segments_needed(-0.5, 0.5, 1000) == segments_needed(0.5, 0.5, 1000)


@given(st.floats(0, 20), st.floats(0.01, 5), st.floats(0.001, 0.5))
def test_power_is_the_chance_of_a_normal_variable(difference, deviation, alpha):
    found = norm(difference, deviation).sf(norm.isf(alpha / 2) * deviation)
    found += norm(difference, deviation).cdf(-norm.isf(alpha / 2) * deviation)
    assert power_at(difference, deviation, alpha) == pytest.approx(found, abs=1e-9)


@given(st.floats(0.001, 0.2), st.floats(0.5, 0.999), st.floats(0.01, 5))
def test_the_three_agree(alpha, power, deviation):
    least = smallest_difference(deviation, alpha, power)
    # The other direction adds less than alpha / 2.
    assert power <= power_at(least, deviation, alpha) + 1e-12 < power + alpha / 2
    assert segments_needed(least, deviation, 1000, alpha, power) in (1000, 1001)
    assert segments_needed(least / 2, deviation, 1000, alpha, power) in (4000, 4001)


def test_without_a_difference_alpha_is_found():
    assert power_at(0, 1.0, 0.05) == pytest.approx(0.05)


def test_what_is_undefined():
    assert math.isnan(smallest_difference(math.nan))
    assert math.isnan(power_at(1, math.nan))
    assert math.isnan(power_at(0, 0))
    assert segments_needed(0, 1, 100) is None
    assert segments_needed(math.nan, 1, 100) is None
    assert segments_needed(1, math.nan, 100) is None
    assert segments_needed(1, 0, 100) == 1


@pytest.mark.parametrize("value", [0, 1, -0.1, 80, math.nan])
def test_bad_levels(value):
    with pytest.raises(BadParameter, match="alpha of a test"):
        smallest_difference(1, alpha=value)
    with pytest.raises(BadParameter, match="power of a test"):
        smallest_difference(1, power=value)
    with pytest.raises(BadParameter, match="alpha of a test"):
        power_at(1, 1, value)
