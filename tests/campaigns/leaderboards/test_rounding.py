"""Numbers made coarse tell no more than their step."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.leaderboards.rounding import rounded, rounded_outwards, step_of

SCORES = st.floats(-50, 150, allow_nan=False)
STEPS = st.sampled_from([0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 10.0])


@pytest.mark.parametrize(
    ("score", "step", "told"),
    [
        *((30.5, 1.0, 30.0), (31.5, 1.0, 32.0), (30.499999, 1.0, 30.0), (30.25, 0.5, 30.0), (30.75, 0.5, 31.0)),
        *((0.0, 1.0, 0.0), (-0.5, 1.0, 0.0), (99.96, 0.1, 100.0), (29.0, 2.0, 28.0), (31.0, 2.0, 32.0)),
    ],
)
def test_from_the_middle_to_the_even_step(score: float, step: float, told: float) -> None:
    assert rounded(score, step_of(step, 100.0)) == told


def test_steps_are_points_of_a_hundred_and_a_hundredth_of_that_on_an_endless_scale() -> None:
    assert step_of(0.1, 100.0) == Fraction(1, 10), "as it is written, not the binary number next to it"
    assert step_of(1.0, 1.0) == Fraction(1, 100)
    assert step_of(1.0, 0.5) == Fraction(1, 200)
    assert step_of(1.0, math.inf) == Fraction(1, 100)


@pytest.mark.parametrize("points", [0.0, -1.0, math.nan, math.inf])
def test_a_step_that_cannot_be_used_tells_no_more_than_whole_points(points: float) -> None:
    assert step_of(points, 100.0) == 1


@given(SCORES, STEPS)
def test_what_is_reported_is_a_multiple_of_the_step_and_as_near_as_can_be(score: float, points: float) -> None:
    step = step_of(points, 100.0)
    told = rounded(score, step)
    assert abs(Fraction(told) - Fraction(score)) <= step / 2 + Fraction(1, 10**12)
    assert told == float(round(Fraction(told) / step) * step)


@given(SCORES, SCORES, STEPS)
def test_ends_go_outwards_by_less_than_a_step(one: float, other: float, points: float) -> None:
    low, high = min(one, other), max(one, other)
    step = step_of(points, 100.0)
    told = rounded_outwards(low, high, step)
    slack = Fraction(1, 10**12)
    assert -slack <= Fraction(low) - Fraction(told[0]) < step + slack
    assert -slack <= Fraction(told[1]) - Fraction(high) < step + slack
