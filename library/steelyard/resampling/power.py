"""Is a test set large enough? What differences a two-sided test finds, from the spread of replicate differences.

All by the normal approximation: an observed difference varies around the true one with the standard deviation that
replicates show (`steelyard.resampling.runs.standard_deviation`), and the test finds it where it is larger than the
normal quantile of 1 - alpha / 2 times that. Cohen 1988; for machine translation Card et al. 2020, "With
little power comes great responsibility".
"""

from __future__ import annotations

import math

from steelyard.errors import BadParameter
from steelyard.numerics.distributions import normal_cdf, normal_quantile

ALPHA = 0.05
POWER = 0.8


def smallest_difference(deviation: float, alpha: float = ALPHA, power: float = POWER) -> float:
    """The true difference that is found with probability `power`: (z(1 - alpha / 2) + z(power)) x deviation.

    Parameters
    ----------
    deviation : float
        The standard deviation of the replicates' differences; NaN stays NaN.
    alpha : float
        The level of the two-sided test.
    power : float

    Returns
    -------
    float

    Raises
    ------
    BadParameter
        For an alpha or power that is not between 0 and 1.
    """
    return _effect(alpha, power) * deviation


def power_at(difference: float, deviation: float, alpha: float = ALPHA) -> float:
    """The probability of finding a true difference of this size, in either direction.

    Parameters
    ----------
    difference : float
    deviation : float
        The standard deviation of replicate differences.
    alpha : float
        The level of the two-sided test.

    Returns
    -------
    float
        NaN where there is no spread.
    """
    limit = _effect(alpha, 0.5)
    if not deviation > 0:
        return math.nan
    effect = abs(difference) / deviation
    return normal_cdf(effect - limit) + normal_cdf(-effect - limit)


def segments_needed(
    difference: float, deviation: float, segments: int, alpha: float = ALPHA, power: float = POWER
) -> int | None:
    """The number of segments like those that there are which show a true difference of this size with that power.

    Parameters
    ----------
    difference : float
    deviation : float
        Seen on so many `segments`; it falls as the square root of their number.
    segments : int
    alpha : float
        The level of the two-sided test.
    power : float

    Returns
    -------
    int or None
        None where the difference is 0 or undefined: no number is enough.

    Raises
    ------
    BadParameter
        For an alpha or power that is not between 0 and 1.
    """
    needed = smallest_difference(deviation, alpha, power)
    if not abs(difference) > 0 or math.isnan(needed):
        return None
    return max(1, math.ceil(segments * (needed / difference) * (needed / difference)))


def _effect(alpha: float, power: float) -> float:
    """In standard deviations."""
    for name, value in (("alpha", alpha), ("power", power)):
        if not 0 < value < 1:
            raise BadParameter(f"The {name} of a test is {value}, but must be between 0 and 1.")
    return normal_quantile(power) - normal_quantile(alpha / 2)
