"""Statistical power of a test set: which differences between systems it can detect."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.resampling.paired import pairs_to_test
from steelyard.resampling.power import ALPHA, POWER, power_at, segments_needed, smallest_difference
from steelyard.resampling.runs import standard_deviation

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Neighbours:
    """Two systems next to each other in the order of scores; systems are positions in the arrays."""

    a: int
    """The better one, or the first of two that are equal."""
    b: int
    difference: float
    """Score of b minus score of a."""
    smallest: float
    """The smallest true difference between the two that is detected with the given power; NaN where undefined."""
    power: float
    """The probability of finding a true difference as large as the one seen; NaN where replicates show no spread."""
    segments: int | None
    """The number of similar segments that detect it with the given power; None where no number does."""

    @property
    def enough(self) -> bool:
        """Whether the test set is large enough for a true difference as large as the one seen."""
        return abs(self.difference) >= self.smallest > 0


@dataclass(frozen=True)
class MetricPower:
    """The power of a test set by one metric."""

    alpha: float
    power: float
    smallest: tuple[float, float, float] | None
    """The smallest detectable true difference: least, median and largest of all pairs.

    Pairs with constant replicate differences (the same output, a single segment) are left out; None without others.
    """
    neighbours: Sequence[Neighbours]


def metric_power(
    scores: Floats,
    replicates: Floats,
    segments: int,
    *,
    higher_is_better: bool = True,
    alpha: float = ALPHA,
    power: float = POWER,
) -> MetricPower:
    """Which differences of systems a test set can detect by one metric, from bootstrap replicates.

    Parameters
    ----------
    scores : ndarray of float64, shape (systems,)
        NaN for systems without a score, which are left out.
    replicates : ndarray of float64, shape (systems, B)
        Scores of the replicates, drawn alike for all systems. Without any, nothing is known.
    segments : int
        Of the test set.
    higher_is_better : bool
        The metric's direction.
    alpha : float
        The level of the two-sided tests.
    power : float
        The probability with which a difference is to be detected.

    Returns
    -------
    MetricPower

    Raises
    ------
    BadParameter
        For an alpha or a power that is not between 0 and 1.
    """
    ranked = [system for system in range(len(scores)) if not math.isnan(scores[system])] if replicates.shape[1] else []
    ranked.sort(key=lambda system: scores[system], reverse=higher_is_better)
    found, neighbours = [], []
    for a, b in pairs_to_test(len(ranked), None):
        deviation = standard_deviation(replicates[ranked[b]] - replicates[ranked[a]])
        smallest = smallest_difference(deviation, alpha, power)
        if smallest > 0:
            found.append(smallest)
        if b == a + 1:
            difference = float(scores[ranked[b]] - scores[ranked[a]])
            enough = segments_needed(difference, deviation, segments, alpha, power) if smallest > 0 else None
            seen = power_at(difference, deviation, alpha)
            neighbours.append(Neighbours(ranked[a], ranked[b], difference, smallest, seen, enough))
    from statistics import median

    ends = (min(found), median(found), max(found)) if found else None
    return MetricPower(alpha, power, ends, neighbours)
