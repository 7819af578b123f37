"""The fixed-point grid of statistics: sums of its numbers are exact, so that their order does not matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

GRID = 2.0**24
"""Statistics are multiples of 1 / GRID."""


def on_grid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest multiples of 1 / GRID, of two equally near ones the even one. Round once, per segment.

    Parameters
    ----------
    values : (...) float64

    Returns
    -------
    (...) float64
    """
    rounded: NDArray[np.float64] = np.rint(values * GRID) / GRID
    return rounded
