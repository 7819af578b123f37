"""P-values of the paired bootstrap, of one pair and of many at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.resampling.bootstrap_pairs import UNDECIDED, UNDEFINED, bootstrap_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def bootstrap_p(difference: float, replicate_differences: Floats) -> float:
    """The two-sided p-value of a difference by the paired bootstrap.

    The replicates' differences, moved to the mean that they would have if the systems were equal, say how large
    a difference chance makes (Riezler and Maxwell 2005, section 4.2). Two identical outputs have p = 1.

    Parameters
    ----------
    difference : float
    replicate_differences : ndarray of float64, shape (B,)

    Returns
    -------
    float
        NaN where a difference is undefined, without replicates, and where all replicates have one same difference that
        is not 0, as those of a single segment do: they do not show how large a difference chance makes.
    """
    count = len(replicate_differences)
    if not count or math.isnan(difference) or np.isnan(replicate_differences).any():
        return math.nan
    if difference and replicate_differences.min() == replicate_differences.max():
        return math.nan
    # fsum: the last digit of NumPy's mean depends on the processor.
    mean = math.fsum(replicate_differences.tolist()) / count
    centred = np.abs(replicate_differences - mean)
    as_large = int((centred >= abs(difference)).sum())
    return (as_large + 1) / (count + 1)


def bootstrap_p_values(scores: Floats, replicates: Floats, pairs: NDArray[np.int64]) -> Floats:
    """As `bootstrap_p`, of many pairs of systems at once and to the bit.

    Parameters
    ----------
    scores : ndarray of float64, shape (systems,)
    replicates : ndarray of float64, shape (systems, B)
    pairs : ndarray of int64, shape (pairs, 2)
        Positions of the systems to compare.

    Returns
    -------
    ndarray of float64, shape (pairs,)
    """
    counts = bootstrap_pairs(scores, replicates, pairs)
    p: Floats = (counts + 1) / (replicates.shape[1] + 1)
    p[counts == UNDEFINED] = np.nan
    for pair in np.flatnonzero(counts == UNDECIDED):
        a, b = pairs[pair]
        p[pair] = bootstrap_p(float(scores[b] - scores[a]), replicates[b] - replicates[a])
    return p
