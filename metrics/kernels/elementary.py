"""Logarithm, exponential and power of many numbers by the C library, as `math` has them."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from metrics.kernels.loader import INTEGER, POINTER, REAL, address, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


def of_each(name: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The function "log", "log2" or "exp" of every value, of any shape."""
    given = np.asarray(values, np.float64, order="C")
    found = np.empty(given.shape)
    function = kernel("of_each", POINTER, POINTER, INTEGER, POINTER)
    function(place_of(name), address(given), given.size, address(found))
    return found


def power_of_each(values: NDArray[np.float64], exponent: float) -> NDArray[np.float64]:
    """Every value, of any shape, to the power of the exponent."""
    given = np.asarray(values, np.float64, order="C")
    found = np.empty(given.shape)
    function = kernel("power_of_each", POINTER, POINTER, REAL, INTEGER, POINTER)
    function(place_of("pow"), address(given), exponent, given.size, address(found))
    return found


@cache
def place_of(name: str) -> int | None:
    """Where the C library that Python runs with has it: a compiler may bring another one, with other last digits."""
    return ctypes.cast(ctypes.CDLL(None)[name], POINTER).value
