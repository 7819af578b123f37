"""The sums of every bootstrap replicate, exact to the last bit however the test set is cut into shards.

Statistics are integers or multiples of 2^-24, so sums in float64 are exact up to 2^53 steps of that grid and
their order does not matter: not between shards, nor inside a matrix product. docs/resampling.md says how the
draws are made.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from metrics.errors import MetricsError, TooLarge
from metrics.grid import GRID
from metrics.kernels import resampling as kernels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Counts = NDArray[np.uint8] | NDArray[np.uint16]
    Floats = NDArray[np.float64]

GROUP = 1024
"""Segments multiplied at a time: so few that most sums of a group are exact in float32, twice as fast."""

ROWS = 4096
"""Replicates multiplied at a time, which bounds the memory for their counts as floats."""

LARGEST_CACHED = 1 << 24
"""Counts (replicates x segments) that are remembered are at most so many."""


class OffGrid(MetricsError):
    """A statistic is neither an integer nor a multiple of 2^-24."""


def resampling_counts(segments: int, seed: int, replicates: int, first: int, last: int) -> Counts:
    """The kernel's counts, which says more; those of the last few whole test sets are remembered, read-only.

    All systems of a test set share the draws, so a worker asks for the same ones again and again.
    """
    if first == 0 and last == segments and segments * replicates <= LARGEST_CACHED:
        return _whole_counts(segments, seed, replicates)
    return kernels.resampling_counts(segments, seed, replicates, first, last)


@lru_cache(maxsize=4)
def _whole_counts(segments: int, seed: int, replicates: int) -> Counts:
    counts = kernels.resampling_counts(segments, seed, replicates, 0, segments)
    counts.flags.writeable = False
    return counts


def replicate_sums(counts: Counts, statistics: NDArray[Any]) -> Floats:
    """The sums of every replicate, exact: counts (B, n) @ statistics (n, k) -> (B, k).

    The k columns may be those of many systems and metrics side by side. Raises OffGrid for a statistic that
    is not a multiple of 2^-24, TooLarge where draws x largest statistic reaches 2^53 steps of its column's
    grid.
    """
    replicates, segments = counts.shape
    sums = np.zeros((replicates, statistics.shape[1]))
    if not sums.size or not segments:
        return sums
    largest, fractional = _ranges(statistics)
    draws = 0
    for begin in range(0, segments, GROUP):
        group = counts[:, begin : begin + GROUP]
        draws_here = int(group.sum(axis=1, dtype=np.uint32).max())
        draws += draws_here
        small = (draws_here * largest < 2.0**24) & ~fractional
        _add_products(sums, group, statistics[begin : begin + GROUP], small)
    _check_exact(largest * draws, fractional, "draws times the largest statistic")
    return sums


def add_parts(parts: Iterable[Floats]) -> Floats:
    """The sum of the shards' sums, in any order the same bits.

    Raises TooLarge where it would not be exact, OffGrid where a part is not on the grid.
    """
    stacked = np.stack(list(parts))
    columns = stacked.reshape(-1, stacked.shape[-1])
    _, fractional = _ranges(columns)
    bound = np.abs(stacked).sum(axis=0).reshape(-1, stacked.shape[-1]).max(axis=0, initial=0.0)
    _check_exact(bound, fractional, "the sum over the shards")
    total: Floats = stacked.sum(axis=0)
    return total


def _ranges(statistics: NDArray[Any]) -> tuple[Floats, NDArray[np.bool_]]:
    """Of each column: its largest absolute value, and whether it has values that are not integers."""
    top, bottom = statistics.max(axis=0, initial=0), statistics.min(axis=0, initial=0)
    largest = np.maximum(top.astype(np.float64), -bottom.astype(np.float64))
    if statistics.dtype.kind in "iu":
        return largest, np.zeros(largest.shape, np.bool_)
    fractional = (np.rint(statistics) != statistics).any(axis=0)
    if fractional.any():
        scaled = statistics[:, fractional] * GRID
        off = np.argwhere(np.rint(scaled) != scaled)
        if len(off):
            row, column = off[0][0], np.flatnonzero(fractional)[off[0][1]]
            raise OffGrid(
                f"Row {row}, column {column} of the statistics is {float(statistics[row, column])!r}: sums "
                "of such numbers depend on their order. Round them to multiples of 2^-24, once per segment."
            )
    return largest, fractional


def _check_exact(bound: Floats, fractional: NDArray[np.bool_], what: str) -> None:
    steps = np.where(fractional, bound * GRID, bound)
    beyond = np.flatnonzero(~(steps < 2.0**53))
    if len(beyond):
        column = beyond[0]
        unit = "2^53 steps of 2^-24" if fractional[column] else "2^53"
        raise TooLarge(
            f"Column {column} of the statistics: {what} is {bound[column]:g}, beyond {unit}, so sums would "
            "depend on their order. Split the test set, or scale the statistic down."
        )


def _add_products(sums: Floats, counts: Counts, statistics: NDArray[Any], small: NDArray[np.bool_]) -> None:
    """Add counts @ statistics to the sums, in float32 for the columns that are `small` enough for it."""
    kinds: tuple[type[np.float32 | np.float64], ...] = (np.float32, np.float64)
    for columns, kind in zip((small, ~small), kinds, strict=True):
        if not columns.any():
            continue
        chosen = slice(None) if columns.all() else columns
        values: NDArray[Any] = np.ascontiguousarray(statistics[:, chosen], dtype=kind)
        for row in range(0, len(counts), ROWS):
            part: NDArray[Any] = counts[row : row + ROWS].astype(kind)
            sums[row : row + ROWS, chosen] += part @ values
