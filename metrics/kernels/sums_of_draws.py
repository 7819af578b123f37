"""Exact sums of what replicates and trials draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from metrics.kernels.columns import digits_of, first_alike
from metrics.kernels.loader import INTEGER, POINTER, address, checked, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from metrics.kernels.columns import Columns
    from metrics.kernels.draw_bits import DrawBits

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

MOST_DRAWS = 1 << 22
"""Draws whose sums of digits fit in 32 bits."""

_COLUMN = np.dtype([(name, "i8") for name in ("sums", "stride", "slot", "digits", "least")] + [("step", "f8")])


def sums_of_draws(draws: DrawBits, columns: Columns, scales: Floats) -> list[Floats]:
    """The exact sums of what every row draws: of each table (systems, rows, k).

    `scales` (columns,) are what makes integers of the values, a power of 2; these are below 2^53, and so are the sums.
    A row draws at most MOST_DRAWS.
    """
    numbers = np.arange(len(scales))
    alike = first_alike(columns)
    # One may hold integers, another one the same and a fraction that is constant.
    alike = np.where(scales == scales[alike], alike, numbers)
    chosen = np.flatnonzero(alike == numbers)
    least = (columns.least * scales).astype(np.int64)
    digits, ends = digits_of(columns, chosen, scales[chosen], least[chosen])
    source = np.searchsorted(chosen, alike)
    begins = np.concatenate([[0], ends[:-1]])
    sums = [np.empty((len(each), draws.rows, each.shape[2])) for each in columns.tables]
    described = np.empty(len(alike), _COLUMN)
    described["sums"] = np.concatenate([_places(each) for each in sums])
    described["stride"] = columns.strides
    described["slot"], described["digits"] = begins[source], (ends - begins)[source]
    described["least"], described["step"] = least, 1 / scales
    function = kernel("sums_of_draws", *[POINTER] * 3, *[INTEGER] * 3, *[POINTER] * 2, INTEGER, POINTER, INTEGER)
    where = address(draws.draws), address(digits), digits.shape[1]
    checked(function(*draws.places(), *where, address(described), len(described)))
    return sums


def _places(table: Floats) -> Integers:
    systems, rows, columns = table.shape
    place: Integers = np.arange(systems)[:, np.newaxis] * (rows * columns) + np.arange(columns)
    return table.ctypes.data + 8 * place.ravel()
