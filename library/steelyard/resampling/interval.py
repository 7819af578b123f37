"""Confidence intervals from the scores of bootstrap replicates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import BadParameter
from steelyard.numerics.distributions import normal_cdf, normal_quantile

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]
    Ends = tuple[float, float]

INTERVALS = ("percentile", "bca")
"""Percentile: as many replicates outside at both ends. BCa: shifted for bias and skewness."""

ROUNDING = 1e-9
"""A rank this little below a whole number is taken as that number, so that no choice hangs on last digits."""


def interval(
    kind: str,
    replicate_scores: Floats,
    level: float,
    score: float = math.nan,
    leave_one_out_scores: Floats | None = None,
) -> Ends | None:
    """The confidence interval of a score, or of a difference of two systems, from replicates.

    Parameters
    ----------
    kind : str
        One of `INTERVALS`.
    replicate_scores : ndarray of float64, shape (B,)
        Of a difference, those of the second system minus those of the first.
    level : float
        Between 0 and 1.
    score : float
        For BCa: the score, or the difference.
    leave_one_out_scores : ndarray of float64, shape (segments,), optional
        For BCa: of `leave_one_out`, or the differences of both systems'.

    Returns
    -------
    (float, float) or None
        None where it is undefined.

    Raises
    ------
    BadParameter
        For another kind or level, and for BCa without the scores it needs.
    """
    if kind == "percentile":
        return percentile_interval(replicate_scores, level)
    if kind != "bca":
        raise BadParameter(f'There is no interval "{kind}". Intervals: {", ".join(INTERVALS)}.')
    if leave_one_out_scores is None:
        raise BadParameter("A BCa interval needs the scores without each segment, from the statistics of the segments.")
    return bca_interval(replicate_scores, level, score, leave_one_out_scores)


def percentile_interval(replicate_scores: Floats, level: float) -> Ends | None:
    """The percentile interval of a score (Efron and Tibshirani 1993, section 13.3).

    Of B sorted replicate scores it takes the two that have floor(B (1 - level) / 2) others outside; sacreBLEU takes the
    same two and prints half their distance.

    Parameters
    ----------
    replicate_scores : ndarray of float64, shape (B,)
    level : float
        Between 0 and 1.

    Returns
    -------
    (float, float) or None
        None where there is no replicate, or where the score of one is undefined (NaN).

    Raises
    ------
    BadParameter
        For a level that is not between 0 and 1.
    """
    return percentile_intervals(replicate_scores[np.newaxis], level)[0]


def percentile_intervals(replicate_scores: Floats, level: float) -> list[Ends | None]:
    """As `percentile_interval`, of many scores at once.

    Parameters
    ----------
    replicate_scores : ndarray of float64, shape (rows, B)
    level : float
        Between 0 and 1.

    Returns
    -------
    list of (float, float) or None
        Of each row.

    Raises
    ------
    BadParameter
        For a level that is not between 0 and 1.
    """
    outside = int(replicate_scores.shape[1] * _tail(level))
    if not replicate_scores.shape[1]:
        return [None] * len(replicate_scores)
    ordered = np.sort(replicate_scores, axis=1)
    # NaN comes last.
    ends = ordered[:, [outside, -1 - outside, -1]].tolist()
    return [None if math.isnan(last) else (low, high) for low, high, last in ends]


def bca_interval(replicate_scores: Floats, level: float, score: float, leave_one_out_scores: Floats) -> Ends | None:
    """The bias-corrected and accelerated interval of a score (Efron 1987; Efron and Tibshirani 1993, section 14.3).

    It is the percentile interval with other shares of replicates outside: `bca_shares`.

    Parameters
    ----------
    replicate_scores : ndarray of float64, shape (B,)
    level : float
        Between 0 and 1.
    score : float
    leave_one_out_scores : ndarray of float64, shape (segments,)

    Returns
    -------
    (float, float) or None
        None where there is no replicate, where a score is undefined (NaN), and where `bca_shares` are.

    Raises
    ------
    BadParameter
        For a level that is not between 0 and 1.
    """
    shares = bca_shares(replicate_scores, level, score, leave_one_out_scores)
    if shares is None:
        return None
    count = len(replicate_scores)
    below, above = (min(int(count * share + ROUNDING), count - 1) for share in (shares[0], 1 - shares[1]))
    ordered = np.sort(replicate_scores)
    return float(ordered[below]), float(ordered[count - 1 - above])


def bca_shares(replicate_scores: Floats, level: float, score: float, leave_one_out_scores: Floats) -> Ends | None:
    """The shares of replicates below the two ends of a BCa interval.

    The bias z0 is the normal quantile of the share of replicates below the score, those that equal it by half. The
    acceleration a is a sixth of the skewness of the leave-one-out scores, 0 where they are all equal. An end is at
    Phi(z0 + (z0 + z) / (1 - a (z0 + z))). Without bias and acceleration the shares are (1 - level) / 2 and 1 minus
    that.

    Parameters
    ----------
    replicate_scores : ndarray of float64, shape (B,)
    level : float
        Between 0 and 1.
    score : float
    leave_one_out_scores : ndarray of float64, shape (segments,)

    Returns
    -------
    (float, float) or None
        None where all replicates lie on one side of the score, and where a (z0 + z) is 1 or more.
    """
    tail = float(_tail(level))
    count = len(replicate_scores)
    if not count or any(np.isnan(each).any() for each in (replicate_scores, leave_one_out_scores, score)):
        return None
    below = int((replicate_scores < score).sum()) + int((replicate_scores <= score).sum())
    if below in (0, 2 * count):
        return None
    bias = normal_quantile(below / (2 * count))
    acceleration = _acceleration(leave_one_out_scores)
    shares = []
    for quantile in (normal_quantile(tail), -normal_quantile(tail)):
        moved = bias + quantile
        if acceleration * moved >= 1:
            return None
        shares.append(normal_cdf(bias + moved / (1 - acceleration * moved)))
    return shares[0], shares[1]


def _acceleration(leave_one_out_scores: Floats) -> float:
    """From the jackknife: Efron and Tibshirani 1993, formula 14.15."""
    count = len(leave_one_out_scores)
    # Accumulated sums are added from the first to the last on every processor.
    mean = np.cumsum(leave_one_out_scores)[-1] / count if count else 0.0
    away = mean - leave_one_out_scores
    largest = float(np.abs(away).max(initial=0.0))
    # Equal scores whose mean is rounded are still equal.
    if largest <= ROUNDING * abs(mean) / 1000:
        return 0.0
    away = away / largest
    squares, cubes = np.cumsum(away * away)[-1], np.cumsum(away * away * away)[-1]
    return float(cubes / (6 * squares * math.sqrt(squares)))


def _tail(level: float) -> Fraction:
    """The share outside at each end. The level is what its user wrote: in binary, (1 - 0.95) / 2 is not 0.025."""
    from fractions import Fraction

    if not 0 < level < 1:
        raise BadParameter(f"The level of a confidence interval is {level}, but must be between 0 and 1.")
    return (1 - Fraction(repr(float(level)))) / 2
