"""Logarithm, exponential and power of many numbers, in whole numbers: elementary.h has the method."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


def of_each(name: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The function "log", "log2" or "exp" of every value, of any shape.

    Parameters
    ----------
    name : str
    values : ndarray of float64

    Returns
    -------
    ndarray of float64
    """
    given = np.asarray(values, np.float64, order="C")
    found = np.empty(given.shape)
    kernel(f"{name}_of_each")(given.ravel(), found.ravel())
    return found


def power_of_each(values: NDArray[np.float64], exponent: float) -> NDArray[np.float64]:
    """Every value, of any shape, to the power of the exponent.

    Parameters
    ----------
    values : ndarray of float64
    exponent : float

    Returns
    -------
    ndarray of float64
    """
    given = np.asarray(values, np.float64, order="C")
    found = np.empty(given.shape)
    kernel("power_of_each")(given.ravel(), exponent, found.ravel())
    return found
