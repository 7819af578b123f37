"""Numbers made coarse: exactly, so that a score that lies between two steps goes where it should."""

from __future__ import annotations

import math
from fractions import Fraction

DEFAULT_STEP = 1.0
"""Where a phase names none that can be used."""


def step_of(points: float, scale: float) -> Fraction:
    """A phase's step on a metric's own scale.

    Steps are points on the scale of 0 to 100; where a scale has no end, as NIST's, a hundredth of that.
    """
    if not (math.isfinite(points) and points > 0):
        points = DEFAULT_STEP
    # As it is written in decimals: 0.1 means a tenth, not the binary number next to it.
    step = Fraction(repr(float(points)))
    return step * Fraction(scale) / 100 if math.isfinite(scale) and scale > 0 else step / 100


def end_of(scale: float) -> float | None:
    """What a perfect score is, for JSON, which has no number for a scale without an end."""
    return scale if math.isfinite(scale) else None


def rounded(value: float, step: Fraction) -> float:
    """To the nearest multiple of the step; from the middle between two to the even one."""
    return float(round(Fraction(value) / step) * step)


def rounded_outwards(low: float, high: float, step: Fraction) -> tuple[float, float]:
    """The ends of an interval at multiples of the step, none of them nearer to the middle than it was."""
    return float(math.floor(Fraction(low) / step) * step), float(math.ceil(Fraction(high) / step) * step)
