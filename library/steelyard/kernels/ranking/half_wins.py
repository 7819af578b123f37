"""How often one row of numbers is above another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


def half_wins(rows: NDArray[np.float64], left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each pair of rows twice the columns where the left one is above, and once those where they are equal.

    Parameters
    ----------
    rows : ndarray of float64, shape (rows, columns)
    left, right : ndarray of int64, shape (pairs,)
        Positions of rows.

    Returns
    -------
    ndarray of int64, shape (pairs,)
    """
    counts = np.zeros(len(left), np.int64)
    kernel("half_wins")(np.ascontiguousarray(rows), left, right, counts)
    return counts
