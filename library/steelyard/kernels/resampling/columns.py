"""The columns of tables of statistics: what they hold, which are alike, and their digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import BadArray
from steelyard.fixed_point import GRID
from steelyard.kernels.bindings import kernel
from steelyard.kernels.resampling.draw_bits import RUN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

DIGIT_BITS = 10

PADDING = 16
"""Slots are a multiple of it."""

COMPARED = 2.0**28
"""Columns of which values lie further apart are not looked at for equal ones: differences might be rounded."""


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of some tables (systems, n, k), n at least 1: one table after the other, system by system.

    All arrays are (columns,): least and largest value, a sum that is equal for columns that differ by a constant alone,
    how many values are not integers and how many not on the grid, where the first value lies, and how many numbers
    further the next one.
    """

    tables: Sequence[Floats]
    least: Floats
    most: Floats
    sketch: Floats
    fractional: Floats
    off_grid: Floats
    places: Integers
    strides: Integers

    def values(self, column: int) -> Floats:
        """All values of a column, (n,)."""
        for table in self.tables:
            systems, _, columns = table.shape
            if column < systems * columns:
                break
            column -= systems * columns
        return table[column // columns, :, column % columns]


def survey(tables: Sequence[NDArray[np.float64]]) -> Columns:
    """Look at all values. Tables whose systems' rows are not contiguous are copied. Raises BadArray."""
    if wrong := [each for each in tables if each.dtype != np.float64 or each.ndim != 3 or not each.shape[1]]:
        raise BadArray(
            f"A table of statistics is {wrong[0].dtype}{list(wrong[0].shape)}, but must be (systems, n, k) float64."
        )
    if len({each.shape[1] for each in tables}) > 1:
        raise BadArray(f"Tables have different numbers of rows: {[each.shape[1] for each in tables]}.")
    given = [each if each[:1].flags.c_contiguous else np.ascontiguousarray(each) for each in tables]
    found = np.empty((5, sum(len(each) * each.shape[2] for each in given)))
    places, strides, begin = [], [], 0
    for each in given:
        systems, rows, columns = each.shape
        end = begin + systems * columns
        stride = each.strides[0] // each.itemsize if systems > 1 else 0
        parts = [part[begin:end] for part in found]
        kernel("survey_columns")(each.ctypes.data, systems, stride, rows, columns, GRID, *parts)
        place = np.arange(systems)[:, np.newaxis] * stride + np.arange(columns)
        places.append(each.ctypes.data + 8 * place.ravel())
        strides.append(np.full(end - begin, columns))
        begin = end
    least, most, sketch, fractional, off_grid = found
    return Columns(given, least, most, sketch, fractional, off_grid, np.concatenate(places), np.concatenate(strides))


def first_alike(columns: Columns) -> Integers:
    """Of each column the first one from which it differs by a constant alone, (columns,): often itself."""
    rows = columns.tables[0].shape[1]
    _, first, group = np.unique(columns.sketch, return_index=True, return_inverse=True)
    alike = first[group]
    alike = np.where(columns.most - columns.least < COMPARED, alike, np.arange(len(alike)))
    (others,) = np.nonzero((alike != np.arange(len(alike))) & (columns.most[alike] - columns.least[alike] < COMPARED))
    equal = np.empty(len(others), np.uint8)
    ones = alike[others]
    given = [columns.places[ones], columns.strides[ones], columns.places[others], columns.strides[others]]
    kernel("compare_columns")(*given, rows, equal)
    result = np.arange(len(alike))
    result[others[equal > 0]] = ones[equal > 0]
    return result


def digits_of(
    columns: Columns, chosen: Integers, scales: Floats, least: Integers
) -> tuple[NDArray[np.uint16], Integers]:
    """The digits of value x scale - least of the chosen columns, side by side, and where those of each column end.

    The first are (n, slots), n and slots made up to whole runs and PADDING by zeros. Arrays are those of the chosen.
    """
    span = (columns.most[chosen] * scales).astype(np.int64) - least
    digits = np.zeros(len(chosen), np.int64)
    while span.any():
        digits += span > 0
        span = span >> DIGIT_BITS
    ends = np.cumsum(digits)
    rows = columns.tables[0].shape[1]
    written = np.zeros((-(-rows // RUN) * RUN, -(-int(digits.sum()) // PADDING) * PADDING), np.uint16)
    given = [columns.places[chosen], columns.strides[chosen], scales, least, ends - digits, digits]
    kernel("write_digits")(*given, rows, written)
    return written, ends
