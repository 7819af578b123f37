"""Sums of ranks of the systems of each segment, of which Spearman's rho is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


def rank_sums(human: NDArray[np.float64], metric: NDArray[np.float64]) -> NDArray[np.int64]:
    """Of each segment four times the sums of x y, x² and y², (3, segments).

    x and y are the distances of a cell's ranks from the mean rank of its segment, equal scores sharing the mean of
    their ranks. Scores are (systems, segments), NaN in the same cells.

    Parameters
    ----------
    human : ndarray of float64
    metric : ndarray of float64

    Returns
    -------
    ndarray of int64
    """
    human, metric = np.ascontiguousarray(human, np.float64), np.ascontiguousarray(metric, np.float64)
    room, sums = np.empty((2, *human.shape), np.int32), np.empty((3, human.shape[1]), np.int64)
    kernel("rank_sums")(human, metric, room, sums)
    return sums
