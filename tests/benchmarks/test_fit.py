"""Exponents and slopes of points whose law is known."""

import pytest

from benchmarks.report.fit import line, power

AMOUNTS = [500, 1000, 2000, 4000, 8000]


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0])
def test_a_power_comes_back(exponent):
    found, factor = power(AMOUNTS, [0.003 * amount**exponent for amount in AMOUNTS])
    assert found == pytest.approx(exponent, abs=1e-12)
    assert factor == pytest.approx(0.003)


def test_a_constant_part_lowers_the_exponent():
    found, _ = power(AMOUNTS, [1 + 0.001 * amount for amount in AMOUNTS])
    assert 0.4 < found < 0.8


def test_two_points_make_a_line():
    assert line([1, 3], [5, 9]) == (2, 3)


def test_scatter_on_both_sides_cancels_out():
    slope, intercept = line([0, 0, 1, 1], [-1, 1, 1, 3])
    assert (slope, intercept) == (2, 0)
