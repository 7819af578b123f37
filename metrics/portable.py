"""Logarithm, exponential and power whose last digits do not depend on the processor.

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
