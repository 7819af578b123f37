"""The sums of every bootstrap replicate, exact to the last bit however the test set is cut into shards.

Statistics are integers or multiples of 2^-24, so sums in float64 are exact up to 2^53 steps of that grid and
their order does not matter: not between shards, nor inside a matrix product. docs/reference/resampling.md says how the
draws are made.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import BadArray, MetricsError, TooLarge
from steelyard.fixed_point import GRID
from steelyard.kernels.resampling.resampling import BLOCK, resampling_counts
from steelyard.resampling.bounded_cache import BoundedCache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from steelyard.kernels.resampling.resampling import Counts

    Floats = NDArray[np.float64]

LARGEST_CACHED = 1 << 25
"""Bytes of draws that are remembered."""


class OffGrid(MetricsError):
    """A statistic is neither an integer nor a multiple of 2^-24."""


SINGLE_STEPS = 2.0**24
"""Below so many steps of the grid, sums are exact in float32."""

FLOATS_AT_ONCE = 1 << 22
"""Of counts, or of statistics, that are made ready for a product."""

_DRAWN: BoundedCache[tuple[int, int, int, int, int], Counts] = BoundedCache(
    lambda key: resampling_counts(*key), lambda drawn: drawn.nbytes, LARGEST_CACHED
)


def drawn_segments(segments: int, seed: int, replicates: int, first: int, last: int) -> Counts:
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
    ndarray of unsigned integers, shape (replicates, last - first)
    """
    return _DRAWN((segments, seed, replicates, first, last))


def replicate_sums(counts: Counts, statistics: NDArray[Any]) -> Floats:
    """The sums of every replicate, exact.

    Parameters
    ----------
    counts : ndarray of unsigned integers, shape (B, n)
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


def sums_of_tables(counts: Counts, tables: Sequence[NDArray[Any]]) -> list[Floats]:
    """As `replicate_sums`, of several tables at once.

    Parameters
    ----------
    counts : ndarray of unsigned integers, shape (B, n)
    tables : sequence of ndarray, shape (systems, n, k)

    Returns
    -------
    list of ndarray of float64, shape (systems, B, k)

    Raises
    ------
    OffGrid, TooLarge
        As of `replicate_sums`.
    """
    return summed(tables, int(counts.sum(axis=1, dtype=np.int64).max(initial=0)))(counts)


def summed(tables: Sequence[NDArray[Any]], draws: int) -> Callable[[Counts], list[Floats]]:
    """As `sums_of_tables`, for many draws of the same tables.

    Parameters
    ----------
    tables : sequence of ndarray, shape (systems, n, k)
    draws : int
        The most segments that a replicate may draw.

    Returns
    -------
    function of counts (B, n) to list of ndarray of float64, shape (systems, B, k)

    Raises
    ------
    OffGrid, TooLarge
        As of `replicate_sums`.
    """
    given = [np.asarray(each, np.float64) for each in tables]
    kinds: list[type[np.floating[Any]]] = []
    first = 0
    for table in given:
        fractional, bound = _survey(table, first)
        steps = _check_exact(bound * draws, fractional, "draws times the largest statistic", first)
        # Sums of fewer steps are exact in half the bytes, too.
        kinds.append(np.float32 if (steps < SINGLE_STEPS).all() else np.float64)
        first += len(bound)

    def sums(counts: Counts) -> list[Floats]:
        # All of a kind in one product: the counts are made ready for it once.
        of_kind = {
            kind: iter(
                exact_products(counts, [each for each, its in zip(given, kinds, strict=True) if its is kind], kind)
            )
            for kind in (np.float32, np.float64)
        }
        return [next(of_kind[kind]) for kind in kinds]

    return sums


def exact_products(counts: Counts, tables: Sequence[Floats], kind: type[np.floating[Any]] = np.float64) -> list[Floats]:
    """The counts times the statistics of each system; the caller has seen that every part of the sums is exact.

    Parameters
    ----------
    counts : ndarray of unsigned integers, shape (B, n)
    tables : sequence of ndarray of float64, shape (systems, n, k)
    kind : type, optional
        The floats in which sums are exact.

    Returns
    -------
    list of ndarray of float64, shape (systems, B, k)

    Raises
    ------
    BadArray
        Where the counts are of more or fewer segments, or no unsigned integers of 8 or 16 bits.
    """
    if counts.dtype not in (np.uint8, np.uint16):
        raise BadArray(f"counts is {counts.dtype}{list(counts.shape)}, but must be uint8|uint16[B, n].")
    rows, drawn = counts.shape
    for table in tables:
        if table.shape[1] != drawn:
            raise BadArray(f"Draws of {drawn} segments do not fit tables of {table.shape[1]} rows.")
    edges = np.cumsum([0, *(systems * columns for systems, _, columns in (each.shape for each in tables))]).tolist()
    sums = np.zeros((rows, edges[-1]))
    at_once = max(BLOCK, FLOATS_AT_ONCE // max(rows, edges[-1], 1))
    for begin in range(0, drawn if edges[-1] else 0, at_once):
        part = slice(begin, min(begin + at_once, drawn))
        side_by_side = np.empty((part.stop - begin, edges[-1]), kind)
        for table, its in zip(tables, pairwise(edges), strict=True):
            by_segment = table[:, part].swapaxes(0, 1)
            side_by_side[:, slice(*its)].reshape(by_segment.shape)[...] = by_segment
        sums += counts[:, part].astype(kind) @ side_by_side
    return [
        np.ascontiguousarray(sums[:, slice(*its)].reshape(rows, len(table), table.shape[2]).swapaxes(0, 1))
        for table, its in zip(tables, pairwise(edges), strict=True)
    ]


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
        fractional, _ = _survey(stacked.reshape(1, -1, stacked.shape[-1]))
        bound = np.abs(stacked).sum(axis=0).reshape(-1, stacked.shape[-1]).max(axis=0)
        _check_exact(bound, fractional, "the sum over the shards")
    return total


def _survey(table: Floats, first: int = 0) -> tuple[NDArray[np.bool_], Floats]:
    """Of each column of each system whether some of it is no integer, and the largest magnitude. Raises OffGrid.

    `first` is what messages call the first column.
    """
    fractional = (np.rint(table) != table).any(axis=1).ravel()
    bound = np.abs(table).max(axis=1, initial=0.0).ravel()
    for column in np.flatnonzero(fractional):
        values = table[divmod(column, table.shape[2])[0], :, column % table.shape[2]]
        # A value too large to be scaled is an integer.
        with np.errstate(over="ignore"):
            off = np.flatnonzero(np.rint(values * GRID) != values * GRID)
        if len(off):
            raise OffGrid(
                f"Row {off[0]}, column {first + column} of the statistics is {float(values[off[0]])!r}: sums of such "
                "numbers depend on their order. Round them to multiples of 2^-24, once per segment."
            )
    return fractional, bound


def _check_exact(bound: Floats, fractional: NDArray[np.bool_], what: str, first: int = 0) -> Floats:
    """The steps of the grid up to a bound. Raises TooLarge."""
    steps: Floats = np.where(fractional, bound * GRID, bound)
    beyond = np.flatnonzero(~(steps < 2.0**53))
    if len(beyond):
        column = beyond[0]
        unit = "2^53 steps of 2^-24" if fractional[column] else "2^53"
        raise TooLarge(
            f"Column {first + column} of the statistics: {what} is {bound[column]:g}, beyond {unit}, so sums would "
            "depend on their order. Split the test set, or scale the statistic down."
        )
    return steps
