"""Exact sums of what replicates and trials draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import BadArray
from steelyard.kernels.bindings import COLUMN, kernel
from steelyard.kernels.resampling.columns import digits_of, first_alike
from steelyard.kernels.resampling.draw_bits import RUN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.kernels.resampling.columns import Columns
    from steelyard.kernels.resampling.draw_bits import DrawBits

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

MOST_DRAWS = 1 << 22
"""Draws whose sums of digits fit in 32 bits."""


class ExactSums:
    """Tables (systems, n, k), n at least 1, made ready to be summed over any draws of their n segments.

    `scales` (columns,) are what makes integers of the values, a power of 2; these are below 2^53. The tables must not
    change any more.
    """

    def __init__(self, columns: Columns, scales: Floats) -> None:
        self._rows = columns.tables[0].shape[1]
        numbers = np.arange(len(scales))
        alike = first_alike(columns)
        # One may hold integers, another one the same and a fraction that is constant.
        alike = np.where(scales == scales[alike], alike, numbers)
        chosen = np.flatnonzero(alike == numbers)
        least = (columns.least * scales).astype(np.int64)
        self._digits, ends = digits_of(columns, chosen, scales[chosen], least[chosen])
        source = np.searchsorted(chosen, alike)
        begins = np.concatenate([[0], ends[:-1]])
        self._shapes = [(len(each), each.shape[2]) for each in columns.tables]
        self._columns = np.empty(len(alike), COLUMN)
        self._columns["stride"] = columns.strides
        self._columns["slot"], self._columns["digits"] = begins[source], (ends - begins)[source]
        self._columns["least"], self._columns["step"] = least, 1 / scales

    def over(self, draws: DrawBits) -> list[Floats]:
        """What every row draws in all: of each table (systems, rows, k). Sums of the integers must be below 2^53.

        Raises BadArray where the draws are of more or fewer segments.
        """
        if draws.segments != self._rows:
            raise BadArray(f"Draws of {draws.segments} segments do not fit tables of {self._rows} rows.")
        return self._over(draws, self._digits)

    def _over(self, draws: DrawBits, digits: NDArray[np.uint16]) -> list[Floats]:
        if len(digits) > RUN and draws.draws.max() > MOST_DRAWS:
            middle = len(digits) // 2 // RUN * RUN
            first = self._over(draws.part(0, middle), digits[:middle])
            second = self._over(draws.part(middle, draws.segments), digits[middle:])
            return [one + other for one, other in zip(first, second, strict=True)]
        sums = [np.empty((systems, draws.rows, columns)) for systems, columns in self._shapes]
        columns = self._columns.copy()
        columns["sums"] = np.concatenate([_places(each) for each in sums])
        kernel("sums_of_draws")(draws.bits, draws.ends, draws.entries, draws.draws, digits, columns)
        return sums


def _places(table: Floats) -> Integers:
    systems, rows, columns = table.shape
    place: Integers = np.arange(systems)[:, np.newaxis] * (rows * columns) + np.arange(columns)
    return table.ctypes.data + 8 * place.ravel()
