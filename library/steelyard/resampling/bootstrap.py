"""The sums of every bootstrap replicate, exact to the last bit however the test set is cut into shards.

Statistics are integers or multiples of 2^-24, so sums in float64 are exact up to 2^53 steps of that grid and
their order does not matter: not between shards, nor inside a matrix product. docs/reference/resampling.md says how the
draws are made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import MetricsError, TooLarge
from steelyard.fixed_point import GRID
from steelyard.kernels.resampling.columns import survey
from steelyard.kernels.resampling.draw_bits import DrawBits, draw_bits
from steelyard.kernels.resampling.resampling import resampling_counts
from steelyard.kernels.resampling.sums_of_draws import ExactSums
from steelyard.resampling.bounded_cache import BoundedCache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from steelyard.kernels.resampling.columns import Columns
    from steelyard.kernels.resampling.draw_bits import Counts

    Floats = NDArray[np.float64]

LARGEST_CACHED = 1 << 25
"""Bytes of draws that are remembered."""


class OffGrid(MetricsError):
    """A statistic is neither an integer nor a multiple of 2^-24."""


_DRAWN: BoundedCache[tuple[int, int, int, int, int], DrawBits] = BoundedCache(
    lambda key: draw_bits(resampling_counts(*key)), lambda drawn: drawn.size, LARGEST_CACHED
)


def drawn_segments(segments: int, seed: int, replicates: int, first: int, last: int) -> DrawBits:
    """How often each segment of a run of a test set is drawn, as the kernel `resampling_counts` says.

    All systems and metrics of a test set share the draws, so a process asks for the same ones again and again: those of
    the last few runs are remembered.

    Parameters
    ----------
    segments : int
        Of the whole test set.
    seed : int
    replicates : int
    first, last : int
        The run of segments, without `last`.

    Returns
    -------
    DrawBits
    """
    return _DRAWN((segments, seed, replicates, first, last))


def replicate_sums(counts: Counts | DrawBits, statistics: NDArray[Any]) -> Floats:
    """The sums of every replicate, exact.

    Parameters
    ----------
    counts : ndarray of unsigned integers, shape (B, n), or DrawBits
        How often each replicate draws each segment.
    statistics : ndarray, shape (n, k)
        The k columns may be those of many systems and metrics side by side.

    Returns
    -------
    ndarray of float64, shape (B, k)
        counts @ statistics.

    Raises
    ------
    OffGrid
        For a statistic that is not a multiple of 2^-24.
    TooLarge
        Where draws x largest statistic reaches 2^53 steps of its column's grid.
    """
    (sums,) = sums_of_tables(counts, [statistics[np.newaxis]])
    found: Floats = sums[0]
    return found


def sums_of_tables(counts: Counts | DrawBits, tables: Sequence[NDArray[Any]]) -> list[Floats]:
    """As `replicate_sums`, of several tables at once.

    Parameters
    ----------
    counts : ndarray of unsigned integers, shape (B, n), or DrawBits
    tables : sequence of ndarray, shape (systems, n, k)

    Returns
    -------
    list of ndarray of float64, shape (systems, B, k)

    Raises
    ------
    OffGrid, TooLarge
        As of `replicate_sums`.
    """
    drawn = counts if isinstance(counts, DrawBits) else draw_bits(counts)
    return summed(tables, int(drawn.draws.max(initial=0)))(drawn)


def summed(tables: Sequence[NDArray[Any]], draws: int) -> Callable[[DrawBits], list[Floats]]:
    """As `sums_of_tables`, for many draws of the same tables.

    Parameters
    ----------
    tables : sequence of ndarray, shape (systems, n, k)
    draws : int
        The most segments that a replicate may draw.

    Returns
    -------
    function of DrawBits to list of ndarray of float64, shape (systems, B, k)

    Raises
    ------
    OffGrid, TooLarge
        As of `replicate_sums`.
    """
    given = {number: np.asarray(each, np.float64) for number, each in enumerate(tables) if each.size}
    sums_of_given = None
    if given:
        columns = survey(list(given.values()))
        fractional = _fractional(columns)
        _check_exact(np.maximum(columns.most, -columns.least) * draws, fractional, "draws times the largest statistic")
        if draws:
            sums_of_given = ExactSums(columns, np.where(fractional, GRID, 1.0))

    def over(drawn: DrawBits) -> list[Floats]:
        sums = [np.zeros((len(each), drawn.rows, each.shape[2])) for each in tables]
        if sums_of_given is not None and drawn.rows:
            for number, found in zip(given, sums_of_given.over(drawn), strict=True):
                sums[number] = found
        return sums

    return over


def add_parts(parts: Iterable[Floats]) -> Floats:
    """The sum of the shards' sums: the same bits in any order.

    Parameters
    ----------
    parts : iterable of ndarray of float64
        All of one shape.

    Returns
    -------
    ndarray of float64, of the same shape

    Raises
    ------
    TooLarge
        Where it would not be exact.
    OffGrid
        Where a part is not on the grid.
    """
    stacked = np.stack(list(parts))
    total: Floats = stacked.sum(axis=0)
    if stacked.size:
        fractional = _fractional(survey([stacked.reshape(1, -1, stacked.shape[-1])]))
        bound = np.abs(stacked).sum(axis=0).reshape(-1, stacked.shape[-1]).max(axis=0)
        _check_exact(bound, fractional, "the sum over the shards")
    return total


def _fractional(columns: Columns) -> NDArray[np.bool_]:
    """Which columns have values that are not integers. Raises OffGrid."""
    fractional = columns.fractional > 0
    # A value too large to be scaled is an integer.
    off = np.flatnonzero(fractional & (columns.off_grid > 0))
    if len(off):
        values = columns.values(off[0])
        row = np.flatnonzero(np.rint(values * GRID) != values * GRID)[0]
        raise OffGrid(
            f"Row {row}, column {off[0]} of the statistics is {float(values[row])!r}: sums of such numbers "
            "depend on their order. Round them to multiples of 2^-24, once per segment."
        )
    return fractional


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
