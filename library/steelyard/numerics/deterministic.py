"""Logarithm, exponential, power and sum whose last digits do not depend on processor, library or shape.

NumPy's differ between processors with and without AVX-512, the C library's (`math`, `**`) between those with and
without FMA. These are correctly rounded (kernels/include/elementary.h has method and bounds), as is all else that the
formulas need: + - * / and sqrt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.kernels.numerics.elementary import of_each, power_of_each

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def log(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Natural logarithms: -inf of 0, NaN below.

    Parameters
    ----------
    values : (...) float64

    Returns
    -------
    (...) float64
    """
    return of_each("log", values)


def log2(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms to the base 2: -inf of 0, NaN below.

    Parameters
    ----------
    values : (...) float64

    Returns
    -------
    (...) float64
    """
    return of_each("log2", values)


def exp(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Exponentials: inf above 709.78, 0 below -745.13.

    Parameters
    ----------
    values : (...) float64

    Returns
    -------
    (...) float64
    """
    return of_each("exp", values)


def power(values: NDArray[np.float64], exponent: float) -> NDArray[np.float64]:
    """Values, 0 or more, to the power of the exponent: NaN of values below 0.

    Parameters
    ----------
    values : (...) float64
    exponent : float

    Returns
    -------
    (...) float64
    """
    return power_of_each(values, exponent)


def total(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums over the last axis, from the first number to the last: NumPy's order of adding depends on the shape.

    Parameters
    ----------
    values : (..., n) float64
        At least one in a row.

    Returns
    -------
    (...) float64
    """
    sums = values[..., 0]
    for position in range(1, values.shape[-1]):
        sums = sums + values[..., position]
    return sums
