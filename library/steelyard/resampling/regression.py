"""Regressions: whether a system is worse than its baseline by more than chance and by enough to count."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from steelyard.resampling.best_of import bootstrap_best_p
from steelyard.resampling.bootstrap_p import bootstrap_p

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class Outcome(StrEnum):
    """The outcome of one test; the values are stored and shown."""

    WORSE = "worse"
    NO_SCORE = "no score any more"
    """The metric is undefined, and was not in the baseline."""
    SLIGHTLY_WORSE = "worse, but by less than counts"
    OPEN = "no difference shown"
    SAME_OUTPUT = "same output"
    BETTER = "better"
    UNTESTED = "cannot be tested"
    NO_BASELINE = "no baseline"
    BASELINE = "is the baseline"

    @property
    def regressed(self) -> bool:
        """Whether it is a regression."""
        return self in {Outcome.WORSE, Outcome.NO_SCORE}


def regression_p(
    score: float,
    replicates: Floats,
    baseline_scores: Floats,
    baseline_replicates: Floats,
    *,
    higher_is_better: bool = True,
) -> float:
    """The two-sided p-value of a system against the best of its baselines, by the paired bootstrap.

    A system that is worse than the best of several baselines is tested by `bootstrap_best_p`, which knows that the best
    was chosen for its score.

    Parameters
    ----------
    score : float
    replicates : ndarray of float64, shape (B,)
        Drawn alike for all.
    baseline_scores : ndarray of float64, shape (baselines,)
        At least one; of equal ones the first is the best.
    baseline_replicates : ndarray of float64, shape (baselines, B)
    higher_is_better : bool
        The metric's direction.

    Returns
    -------
    float
        NaN without replicates, and where `bootstrap_p` is.
    """
    if not len(replicates):
        return math.nan
    sign = 1 if higher_is_better else -1
    losses = sign * (baseline_scores - score)
    best = int(np.argmax(losses))
    if losses[best] <= 0:
        return bootstrap_p(float(score - baseline_scores[best]), replicates - baseline_replicates[best])
    return bootstrap_best_p(losses, sign * (baseline_replicates - replicates))


def outcome_of(
    difference: float, p: float, *, alpha: float, minimum_difference: float = 0.0, higher_is_better: bool = True
) -> Outcome:
    """The outcome of a test against a baseline.

    Parameters
    ----------
    difference : float
        The system's score minus that of the baseline.
    p : float
        Corrected for the family of tests.
    alpha : float
        Below it a difference is beyond chance.
    minimum_difference : float
        The smallest difference for the worse that counts, in points of the metric.
    higher_is_better : bool
        The metric's direction.

    Returns
    -------
    Outcome
        OPEN, BETTER, WORSE or SLIGHTLY_WORSE.
    """
    if p >= alpha or not difference:
        return Outcome.OPEN
    if (difference > 0) == higher_is_better:
        return Outcome.BETTER
    return Outcome.WORSE if abs(difference) >= minimum_difference else Outcome.SLIGHTLY_WORSE
