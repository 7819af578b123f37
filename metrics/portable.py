"""Logarithm, exponential, power and sum whose last digits do not depend on processor or shape.

NumPy's differ between processors with and without AVX-512; those of `math` are the C library's. Everything else
that the formulas need (+ - * / and comparisons) is correctly rounded everywhere.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def _each(function: Callable[[float], float], values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.fromiter(map(function, values.ravel().tolist()), np.float64, values.size).reshape(values.shape)


def log(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Natural logarithms; values must be positive."""
    return _each(math.log, values)


def log2(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms to the base 2; values must be positive."""
    return _each(math.log2, values)


def exp(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Exponentials; values must be too small to overflow."""
    return _each(math.exp, values)


def power(values: NDArray[np.float64], exponent: float) -> NDArray[np.float64]:
    """Values, 0 or more, to the power of the exponent, which is above 0."""
    return _each(lambda value: math.pow(value, exponent), values)


def total(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums over the last axis, from the first number to the last: NumPy's order of adding depends on the shape."""
    sums = values[..., 0]
    for position in range(1, values.shape[-1]):
        sums = sums + values[..., position]
    return sums
