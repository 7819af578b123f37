"""Confidence intervals from the scores of bootstrap replicates."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from metrics.errors import BadParameter

if TYPE_CHECKING:
    from numpy.typing import NDArray


def percentile_interval(replicate_scores: NDArray[np.floating[Any]], level: float) -> tuple[float, float] | None:
    """The percentile interval (low, high) of a score at a confidence level such as 0.95.

    Efron and Tibshirani 1993, section 13.3. Of B sorted replicate scores it takes the two that have
    floor(B (1 - level) / 2) others outside; sacreBLEU takes the same two and prints half their distance.
    None where there is no replicate, or where the score of one is undefined (NaN).

    Raises BadParameter for a level that is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise BadParameter(f"The level of a confidence interval is {level}, but must be between 0 and 1.")
    count = len(replicate_scores)
    if not count or np.isnan(replicate_scores).any():
        return None
    # The level as its user wrote it: in binary, 1000 x (1 - 0.95) / 2 is a little more than 25 or less.
    outside = int(count * (1 - Fraction(repr(float(level)))) / 2)
    ordered = np.sort(replicate_scores)
    return float(ordered[outside]), float(ordered[count - 1 - outside])
