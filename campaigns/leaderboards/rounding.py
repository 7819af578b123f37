"""Exact rounding to steps."""

from __future__ import annotations

import math
from fractions import Fraction

DEFAULT_STEP = 1.0
"""If a phase has no valid step."""


def step_of(points: float, scale: float) -> Fraction:
    """Return a phase's step on a metric's own scale.

    Steps are points on the scale of 0 to 100; on a scale without an upper end, such as NIST's, a hundredth of that.
    """
    if not (math.isfinite(points) and points > 0):
        points = DEFAULT_STEP
    # The decimal value: 0.1 means a tenth, not the nearest binary number.
    step = Fraction(repr(float(points)))
    return step * Fraction(scale) / 100 if math.isfinite(scale) and scale > 0 else step / 100


def finite_scale(scale: float) -> float | None:
    """Return the score of a perfect output; None for a scale without an end, which JSON cannot express."""
    return scale if math.isfinite(scale) else None


def rounded(value: float, step: Fraction) -> float:
    """Round to the nearest multiple of the step, ties to even."""
    return float(round(Fraction(value) / step) * step)


def rounded_outwards(low: float, high: float, step: Fraction) -> tuple[float, float]:
    """Round the ends of an interval outwards to multiples of the step."""
    return float(math.floor(Fraction(low) / step) * step), float(math.ceil(Fraction(high) / step) * step)
