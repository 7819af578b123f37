"""Probabilities of the normal, Student's t, the Mann-Whitney, the Wilcoxon and the binomial distribution.

The same on every processor, as those of the C library and of SciPy are not: made of + - * /, square roots, the
functions of `steelyard.numerics.deterministic` and whole numbers. Relative errors are below 1e-13.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from steelyard.numerics.deterministic import exp, log, power

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_ROOT_OF_TWO_PI = 2.5066282746310002
_FAR = 40.0
"""Nothing that a double can hold lies beyond so many standard deviations."""
_SERIES = 1.5
_FRACTIONS = 120
_TINY = 1e-300
_HALLEY_STEPS = 3
_SMALL = 8
"""Up to so many scores on one side the distribution of ranks is counted out, as SciPy does."""

_WILCOXON_PLAIN, _WILCOXON_TIED = 50, 13
"""Up to so many differences the distribution of their ranks is counted out, without and with ties, as SciPy does."""


def normal_cdf(x: float) -> float:
    """The probability that a standard normal number is x or less.

    Parameters
    ----------
    x : float

    Returns
    -------
    float
    """
    return _upper_tail(-x) if x < 0 else 1.0 - _upper_tail(x)


def normal_sf(x: float) -> float:
    """The probability that a standard normal number is more than x: 1 - `normal_cdf`, with all digits far out.

    Parameters
    ----------
    x : float

    Returns
    -------
    float
    """
    return normal_cdf(-x)


def normal_quantile(p: float) -> float:
    """The number that a standard normal one is below with probability p, 0 to 1; NaN for other p.

    Halley's iteration from a rational approximation (Abramowitz and Stegun 1964, 26.2.22), on the smaller tail.

    Parameters
    ----------
    p : float

    Returns
    -------
    float
    """
    if not 0 < p < 1:
        return {0.0: -math.inf, 1.0: math.inf}.get(p, math.nan)
    if p == 0.5:
        return 0.0
    tail = min(p, 1.0 - p)
    root = math.sqrt(-2.0 * _scalar(log, tail))
    x = root - (2.30753 + 0.27061 * root) / (1.0 + root * (0.99229 + 0.04481 * root))
    for _ in range(_HALLEY_STEPS):
        step = (_upper_tail(x) - tail) / _density(x)
        x += step / (1.0 - step * x / 2.0)
    return -x if p < 0.5 else x


def student_t_sf(t: float, degrees: int) -> float:
    """The probability that Student's t with so many degrees of freedom, 1 or more, is larger than t.

    Half the incomplete beta function of degrees / (degrees + t²) with degrees / 2 and 1/2 (Abramowitz and Stegun 1964,
    26.7.1).

    Parameters
    ----------
    t : float
    degrees : int

    Returns
    -------
    float
    """
    if math.isnan(t):
        return math.nan
    if t < 0:
        return 1.0 - student_t_sf(-t, degrees)
    if math.isinf(t):
        return 0.0
    a, below = degrees / 2.0, degrees + t * t
    x, rest = degrees / below, t * t / below
    beta = 2.0 if degrees % 2 == 0 else math.pi
    for twice in range(2 - degrees % 2, degrees, 2):
        beta *= twice / (twice + 1.0)
    front = _scalar(lambda values: power(values, a), x) * math.sqrt(rest) / beta
    if x < (a + 1.0) / (a + 2.5):
        return front * _beta_fraction(x, a, 0.5) / a / 2.0
    return (1.0 - front * _beta_fraction(rest, 0.5, a) / 0.5) / 2.0


def mann_whitney_p(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """One-sided p-value that scores as high as the first ones come from where the second ones do.

    Exact where one side has up to 8 scores and none are equal; else by the normal approximation with corrections for
    ties and continuity. Those are the choices of SciPy's `mannwhitneyu` (Mann and Whitney 1947).

    Parameters
    ----------
    first : (n,) float64
    second : (m,) float64

    Returns
    -------
    float
    """
    n, m = len(first), len(second)
    ordered = np.sort(second)
    twice_u = int((np.searchsorted(ordered, first, "left") + np.searchsorted(ordered, first, "right")).sum())
    _, equal = np.unique(np.concatenate([first, second]), return_counts=True)
    if min(n, m) <= _SMALL and equal.max() == 1:
        return _share_of_orders(twice_u // 2, n, m)
    ties = sum(count**3 - count for count in equal[equal > 1].tolist())
    total = n + m
    variance = n * m / 12.0 * (total + 1 - ties / (total * (total - 1)))
    above = (twice_u - n * m - 1) / 2.0
    return normal_sf(above / math.sqrt(variance)) if variance > 0 else 1.0


def wilcoxon_p(differences: NDArray[np.float64], *, two_sided: bool = True) -> float:
    """The p-value of Wilcoxon's signed-rank test (1945) that differences come from around 0.

    Differences of 0 are left out, equal ones share their mean rank. The distribution of ranks is counted out for up to
    50 differences of which none is 0 and none equal, and for up to 13 others; else it is the normal approximation,
    corrected for ties. Those are the choices of SciPy's `wilcoxon` since 1.17.

    Parameters
    ----------
    differences : (n,) float64
    two_sided : bool
        Or else whether differences tend to be above 0.

    Returns
    -------
    float
        1 where no difference is left.
    """
    left = differences[differences != 0]
    if not len(left):
        return 1.0
    sizes, size_of, counts = np.unique(np.abs(left), return_inverse=True, return_counts=True)
    # Twice the mean ranks, which are whole numbers.
    ends = np.cumsum(counts)
    twice_ranks = (2 * ends - counts + 1)[size_of]
    above = int(twice_ranks[left > 0].sum())
    whole = len(left) * (len(left) + 1)
    plain = len(sizes) == len(differences)
    if len(differences) <= (_WILCOXON_PLAIN if plain else _WILCOXON_TIED):
        upper = _share_of_signs(twice_ranks.tolist(), above)
        lower = _share_of_signs(twice_ranks.tolist(), whole - above)
        return min(1.0, 2 * min(upper, lower)) if two_sided else upper
    n = len(left)
    variance = n * (n + 1) * (2 * n + 1) / 24.0 - float((counts**3 - counts).sum()) / 48.0
    away = (above - whole / 2) / 2.0 / math.sqrt(variance)
    return 2.0 * normal_sf(abs(away)) if two_sided else normal_sf(away)


def sign_p(successes: int, trials: int) -> float:
    """The probability of so many successes or more in fair trials.

    Parameters
    ----------
    successes : int
    trials : int

    Returns
    -------
    float
    """
    ways = count = math.comb(trials, successes)
    for number in range(successes, trials):
        ways = ways * (trials - number) // (number + 1)
        count += ways
    return count / (1 << trials)


def _share_of_orders(u: int, n: int, m: int) -> float:
    """How many of the orders of n and m different scores have u or more pairs in which the first is larger.

    The numbers of orders by u are the coefficients of the product over i of (1 - q^(larger + i)) / (1 - q^i).
    """
    smaller, larger = sorted((n, m))
    orders = [1] + [0] * (n * m)
    for i in range(1, smaller + 1):
        for at in range(n * m, larger + i - 1, -1):
            orders[at] -= orders[at - larger - i]
        for at in range(i, n * m + 1):
            orders[at] += orders[at - i]
    return sum(orders[u:]) / math.comb(n + m, n)


def _share_of_signs(ranks: list[int], least: int) -> float:
    """In how many of all ways to give these ranks signs those above 0 sum up to `least` or more."""
    ways = [1] + [0] * sum(ranks)
    for rank in ranks:
        for at in range(len(ways) - 1, rank - 1, -1):
            ways[at] += ways[at - rank]
    return sum(ways[least:]) / (1 << len(ranks))


def _upper_tail(x: float) -> float:
    """Above x, which is more than -1.5: a series near 0, and far out Laplace's continued fraction."""
    if not x < _FAR:
        return math.nan if math.isnan(x) else 0.0
    if x < _SERIES:
        term = total = x
        odd = 1.0
        while abs(term) > 1e-18:
            odd += 2.0
            term *= x * x / odd
            total += term
        return 0.5 - _density(x) * total
    fraction = x
    for k in range(_FRACTIONS, 0, -1):
        fraction = x + k / fraction
    return _density(x) / fraction


def _density(x: float) -> float:
    # The square is taken apart, because its rounding would count x² times in the exponential.
    near = math.floor(x * 64.0) / 64.0
    return _scalar(exp, -near * near / 2.0) * _scalar(exp, -(x - near) * (x + near) / 2.0) / _ROOT_OF_TWO_PI


def _beta_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function (Abramowitz and Stegun 1964, 26.5.8), by Lentz."""
    upper, lower = 1.0, 1.0 / _not_zero(1.0 - (a + b) * x / (a + 1.0))
    value = lower
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        before = value
        for numerator in (even, odd):
            lower = 1.0 / _not_zero(1.0 + numerator * lower)
            upper = _not_zero(1.0 + numerator / upper)
            value *= lower * upper
        if abs(value - before) <= 1e-16 * abs(value):
            break
    return value


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def _scalar(function: Callable[[NDArray[np.float64]], NDArray[np.float64]], value: float) -> float:
    return float(function(np.array(value)))
