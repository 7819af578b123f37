"""Pairs of systems in the same segment: counted by kind, and as steps of tie calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

LANES = 64
"""Trials or replicates that are worked on side by side."""


@dataclass(frozen=True, eq=False)
class Steps:
    """Pairs in the order of their distances, (steps,) each: what happens as the threshold of ties grows."""

    distance: Floats
    segment: NDArray[np.int32]
    upwards: NDArray[np.uint8]
    """1 where a tie is right, 0 where it is wrong."""
    last: NDArray[np.uint8]
    """1 in the last step of each distance."""


def pair_kinds(human: Floats, metric: Floats, more_than: float = -1.0) -> NDArray[np.int32]:
    """Concordant and discordant pairs, those tied by people, by the metric, by both: (5, segments).

    Scores are (systems, segments), NaN where there is none; only pairs whose human scores differ by more than that.

    Parameters
    ----------
    human : ndarray of float64
    metric : ndarray of float64
    more_than : float, optional

    Returns
    -------
    ndarray of int32
    """
    counts = np.zeros((5, human.shape[1]), np.int32)
    human, metric = np.ascontiguousarray(human, np.float64), np.ascontiguousarray(metric, np.float64)
    kernel("count_pairs")(human, metric, more_than, counts)
    return counts


def calibrate_drawn(steps: Steps, worth: Integers, number: int, sums: Integers, best: Integers, at: Integers) -> None:
    """Go on with the steps: in each replicate, what they change and the best sum so far.

    `worth` (segments, LANES) is what a pair of the segment counts in each replicate, `number` the number of the first
    step here. Sums, best and `at`, the number of the best step, are (LANES,) and are changed.

    Parameters
    ----------
    steps : Steps
    worth : Integers
    number : int
    sums : Integers
    best : Integers
    at : Integers
    """
    kernel("calibrate_drawn")(steps.segment, steps.upwards, steps.last, worth, number, sums, best, at)
