"""Tests between two metrics: whether one really agrees better with people than the other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.ranking.pairs import LANES
from steelyard.numerics.distributions import student_t_sf
from steelyard.resampling.randomization import sign_flips

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

TRIALS = 1000
CELLS_AT_ONCE = 1 << 25
"""Of the trials that are worked on together."""

AS_LARGE = 1e-12
"""Differences of statistics that are mathematically equal may differ by the rounding of a few operations."""


def williams_p(r_first: float, r_second: float, r_between: float, systems: int) -> float:
    """Williams' test of whether two metrics correlate equally with people.

    Williams 1959, for Pearson's r; Graham and Baldwin 2014, section 4.

    Parameters
    ----------
    r_first, r_second : float
        The correlations of the two metrics with people.
    r_between : float
        That of the metrics with each other: the more alike they are, the smaller a difference counts.
    systems : int

    Returns
    -------
    float
        Two-sided p-value; NaN below four systems, where a correlation is undefined, and where one metric is the other
        with its sign turned.
    """
    if systems < 4 or math.isnan(r_first + r_second + r_between):
        return math.nan
    if abs(r_first - r_second) <= AS_LARGE:
        return 1.0
    if 1 - abs(r_between) <= AS_LARGE:
        return math.nan
    determinant = (
        1 - r_first * r_first - r_second * r_second - r_between * r_between + 2 * r_first * r_second * r_between
    )
    mean = (r_first + r_second) / 2
    apart = 1 - r_between
    spread = 2 * max(determinant, 0.0) * (systems - 1) / (systems - 3) + mean * mean * apart * apart * apart
    t = (r_first - r_second) * math.sqrt((systems - 1) * (1 + r_between) / spread)
    return 2 * student_t_sf(abs(t), systems - 3)


def permutation_p(
    statistic: Callable[[Floats], Floats], first: Floats, second: Floats, *, seed: int, trials: int = TRIALS
) -> float:
    """As `permutation_test`, of any statistic.

    Parameters
    ----------
    statistic : function
        Compares a stack of arrays of scores with people: (trials, ...) -> (trials,).
    first, second : ndarray of float64, of one shape
        Oriented scores; NaN where there is none.
    seed : int
    trials : int

    Returns
    -------
    float
        Two-sided; NaN where one statistic is undefined.
    """

    def exchanged(a: Floats, b: Floats) -> Callable[[NDArray[np.bool_]], Floats]:
        return lambda swapped: np.stack([statistic(np.where(swapped, b, a)), statistic(np.where(swapped, a, b))])

    return permutation_test(exchanged, first, second, seed=seed, trials=trials)


def permutation_test(
    exchanged: Callable[[Floats, Floats], Callable[[NDArray[np.bool_]], Floats]],
    first: Floats,
    second: Floats,
    *,
    seed: int,
    trials: int = TRIALS,
) -> float:
    """Permutation test of whether two metrics agree equally well with people.

    PERM-BOTH of Deutsch et al. 2021, section 4: both metrics are standardised, and in each trial the two scores of
    every system (or of every segment of every system) are exchanged or not.

    Parameters
    ----------
    exchanged : function
        Takes the standardised scores of both metrics, and gives a function from where they are exchanged, (trials, ...)
        bool, to the statistics of both, (2, trials).
    first, second : ndarray of float64, of one shape
        Oriented scores; NaN where there is none.
    seed : int
    trials : int
        Where there are no more ways to exchange scores, each is tried once.

    Returns
    -------
    float
        Two-sided p-value; NaN where one statistic is undefined.
    """
    known = ~np.isnan(first) & ~np.isnan(second)
    exact = 2 ** int(known.sum()) <= trials
    values = exchanged(*(standardised(scores, known) for scores in (first, second)))
    of_both, differences = exchanged_differences(values, known, seed=seed, trials=trials, exact=exact)
    real = float(of_both)
    if math.isnan(real):
        return math.nan
    # A trial that leaves one of them constant says nothing against chance.
    as_large = int((~(np.abs(differences) < abs(real) - AS_LARGE)).sum())
    return as_large / len(differences) if exact else (as_large + 1) / (trials + 1)


def exchanged_differences(
    values: Callable[[NDArray[np.bool_]], Floats],
    known: NDArray[np.bool_],
    *,
    seed: int,
    trials: int,
    exact: bool = False,
) -> tuple[Floats, Floats]:
    """How much better the first of two metrics agrees with people, and what chance makes of that.

    Parameters
    ----------
    values : function of ndarray of bool, shape (trials, ...), to ndarray of float64, shape (2, ..., trials)
        From where two metrics exchange their standardised scores to the statistics of both; of any number of two.
    known : ndarray of bool
        Where both have scores.
    seed : int
    trials : int
    exact : bool
        Whether every way to exchange scores is tried once, instead of `trials` drawn ones.

    Returns
    -------
    ndarray of float64, shape (...), ndarray of float64, shape (..., trials)
        NaN where a statistic is undefined.
    """
    places = int(known.sum())
    trials = 2**places if exact else trials
    at_once = max(LANES, CELLS_AT_ONCE // max(1, known.size))
    differences = []
    # Before all trials one that exchanges nothing.
    for begin in range(-1, trials, at_once):
        first, last = max(begin, 0), min(begin + at_once, trials)
        drawn = _every_swap(places, first, last) if exact else sign_flips(places, seed, first, last)
        swapped = np.zeros((last - begin, *known.shape), np.bool_)
        swapped[first - begin :, known] = drawn
        one, other = values(swapped)
        differences.append(one - other)
    together = np.concatenate(differences, axis=-1)
    return together[..., 0], together[..., 1:]


def _every_swap(places: int, first: int, last: int) -> NDArray[np.bool_]:
    """The ways number first..last to let some of the places change: (ways, places)."""
    swapped: NDArray[np.bool_] = (np.arange(first, last)[:, None] >> np.arange(places) & 1).astype(np.bool_)
    return swapped


def standardised(scores: Floats, known: NDArray[np.bool_]) -> Floats:
    """With mean 0 and variance 1 over the known ones; only centred where they are constant.

    Parameters
    ----------
    scores : ndarray of float64
    known : ndarray of bool, of the same shape

    Returns
    -------
    ndarray of float64, of the same shape
        NaN where not known.
    """
    values = scores[known].tolist()
    mean = math.fsum(values) / len(values) if values else 0.0
    variance = math.fsum((value - mean) * (value - mean) for value in values) / max(1, len(values))
    return np.where(known, (scores - mean) / (math.sqrt(variance) or 1.0), np.nan)
