"""P-values of the paired bootstrap, of one pair and of many at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

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


def bootstrap_p_values(differences: Floats, replicate_differences: Floats) -> Floats:
    """As `bootstrap_p`, of many pairs at once and to the bit.

    Parameters
    ----------
    differences : ndarray of float64, shape (pairs,)
    replicate_differences : ndarray of float64, shape (pairs, B)
        B is at least 1.

    Returns
    -------
    ndarray of float64, shape (pairs,)
    """
    count = replicate_differences.shape[1]
    largest = np.maximum(np.abs(replicate_differences).max(axis=1), np.abs(differences))
    centred = np.abs(replicate_differences - replicate_differences.mean(axis=1)[:, None])
    beyond = centred - np.abs(differences)[:, None]
    p: Floats = (np.count_nonzero(beyond >= 0, axis=1) + 1) / (count + 1)
    # The last digits of NumPy's mean depend on the processor. Where they could decide, the exact mean does.
    slack = 4 * count * np.finfo(np.float64).eps * largest
    undecided = (np.abs(beyond) <= slack[:, None]).any(axis=1)
    for pair in np.flatnonzero(undecided):
        p[pair] = bootstrap_p(float(differences[pair]), replicate_differences[pair])
    same = replicate_differences.min(axis=1) == replicate_differences.max(axis=1)
    p[np.isnan(largest) | (same & (differences != 0))] = np.nan
    return p
