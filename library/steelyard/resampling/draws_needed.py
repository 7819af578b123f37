"""How many replicates or trials tests need to find anything."""

from __future__ import annotations

import math

FINENESS = 5
"""So many times the fewest draws that can show anything: a pair of which some are as large as seen is found, too."""


CHEAP_DRAWS = 20_000
"""Made without a thought: those of 13 systems by three metrics take about a second."""


MOST_DRAWS = 100_000
"""Enough for the pairs of a hundred systems."""


def smallest_p(replicates: int, pairs: int, correction: str) -> float:
    """The smallest corrected p-value that is possible.

    Where it is above the level of the tests, nothing can be found, however large a difference is: more replicates are
    needed. By Benjamini and Hochberg's correction all pairs together may still reach 1 / (replicates + 1).

    Parameters
    ----------
    replicates : int
        Replicates or trials.
    pairs : int
        Tests in the family.
    correction : str
        One of `CORRECTIONS`.

    Returns
    -------
    float
    """
    return min(1.0, (pairs if correction == "holm" else 1) / (replicates + 1))


def enough_draws(draws: int, pairs: int, correction: str, alpha: float) -> int:
    """How many replicates or trials tests of several pairs take: `draws`, or more where these cannot show anything.

    Where no corrected p-value of so few could be below `alpha`, it is as many as give the surest pair a fifth of it, in
    whole thousands; beyond CHEAP_DRAWS only as many as can show something at all, and never more than MOST_DRAWS.

    Parameters
    ----------
    draws : int
    pairs : int
        Tests in the family.
    correction : str
        One of `CORRECTIONS`.
    alpha : float
        The level of the tests.

    Returns
    -------
    int
    """
    if not draws or smallest_p(draws, pairs, correction) < alpha:
        return draws
    family = pairs if correction == "holm" else 1
    fewest = math.floor(family / alpha) + 1
    wanted = max(fewest, min(FINENESS * fewest, CHEAP_DRAWS))
    return max(draws, min(-(-wanted // 1000) * 1000, MOST_DRAWS))
