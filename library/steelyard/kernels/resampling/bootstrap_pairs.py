"""How many replicates of a bootstrap differ from their mean by as much as two systems do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import BadArray
from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

UNDEFINED, UNDECIDED = -1, -2


def bootstrap_pairs(scores: Floats, replicates: Floats, pairs: Integers) -> Integers:
    """Of each pair the number of replicates that lie as far from their mean as its scores from each other, (pairs,).

    UNDEFINED where a difference is NaN, without replicates, and where all replicates have one same difference while
    the scores differ. UNDECIDED where the last digits of the mean would decide: it is not exact.

    Scores are (systems,), replicates (systems, B), pairs (pairs, 2) positions of systems. Raises BadArray where there
    is no such system.

    Parameters
    ----------
    scores : ndarray of float64
    replicates : ndarray of float64
    pairs : ndarray of int64

    Returns
    -------
    ndarray of int64
    """
    if pairs.size and not 0 <= pairs.min() <= pairs.max() < len(scores):
        raise BadArray(f"Pairs name systems {pairs.min()} to {pairs.max()}, of {len(scores)}, the first being 0.")
    counts = np.empty(len(pairs), np.int64)
    given = np.ascontiguousarray(scores, np.float64), np.ascontiguousarray(replicates, np.float64)
    kernel("bootstrap_pairs")(*given, np.ascontiguousarray(pairs, np.int64), counts)
    return counts
