"""Lines through measured points, by least squares: the exponent of a growth, the cost of one more."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def line(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """(slope, intercept) of y over x."""
    middle, mean = sum(x) / len(x), sum(y) / len(y)
    spread = sum((each - middle) ** 2 for each in x)
    slope = sum((each - middle) * (value - mean) for each, value in zip(x, y, strict=True)) / spread
    return slope, mean - slope * middle


def power(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """(exponent, factor) of y = factor * x ** exponent: a line in log-log, so all must be positive; 1 is linear."""
    exponent, logarithm = line([math.log(each) for each in x], [math.log(each) for each in y])
    return exponent, math.exp(logarithm)
