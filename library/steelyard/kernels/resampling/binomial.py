"""Exact tables of fair coins, from which the resampling kernel draws large binomials in one step.

A table of 2^j coins holds, for every possible number of heads, the 64-bit bound below which a random word
means that many heads or fewer. The bounds are integers with one exact definition, computed without floating
point, so they are the same on every machine for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALLEST = 12
"""Fewer than 2^12 coins are thrown bit by bit, without a table: the least exponent there is a table for."""

LARGEST = 31
"""The largest exponent there is a table for; fewer than 2^32 draws."""

_WORD = 1 << 64
_PRECISION = 192


def half_bounds(exponent: int) -> tuple[int, list[int]]:
    """The fewest heads of N = 2^exponent coins, and the bounds: heads = fewest + number of bounds <= a word.

    The bound of x heads is floor(2^64 P(X <= x)) for x < N/2, and 2^64 minus the bound of N-1-x above, so
    that x and N-x heads are equally likely to the last bit. Bounds of 0 and 2^64 are left out.

    The weights come from w(x-1) = w(x) x / (N-x+1), down from N/2 in 192-bit fixed point. Each is off by less
    than 2^20 of 2^192, so the floors could only be wrong within 2^-90 of an integer, which is checked.

    Parameters
    ----------
    exponent : int

    Returns
    -------
    (int, list of int)
    """
    assert exponent >= 8, "of few coins, bounds are integers exactly"
    coins = 1 << exponent
    heads = coins // 2
    weight = middle = 1 << _PRECISION
    weights = []
    while heads and (weight := weight * heads // (coins - heads + 1)):
        heads -= 1
        weights.append(weight)
    whole = 2 * sum(weights) + middle
    below: list[int] = []
    fewest, cumulated, error = heads, 0, whole >> 90
    for weight in reversed(weights):
        cumulated += weight
        bound, rest = divmod(cumulated * _WORD, whole)
        assert rest < whole - error
        if bound:
            assert rest > error
            below.append(bound)
        else:
            fewest += 1
    return fewest, below + [_WORD - bound for bound in reversed(below)]


@dataclass(frozen=True, eq=False)
class HalfTables:
    """The tables of 2^12 up to 2^largest coins, laid out for the kernel.

    `bounds` (uint64): those of all tables, one after the other. `rows` (int64, tables x 258): first what to
    add to the index of the first bound above the word to get the number of heads; then, for each first byte
    0..256 of the word, the index of the first bound whose first byte is not smaller.
    """

    bounds: NDArray[np.uint64]
    rows: NDArray[np.int64]


@cache
def half_tables(largest: int) -> HalfTables:
    """Tables up to 2^largest coins; none where `largest` is below 12.

    Parameters
    ----------
    largest : int
    """
    parts, rows, used = [], [], 0
    for exponent in range(SMALLEST, largest + 1):
        fewest, bounds = _cached_bounds(exponent)
        by_first_byte = np.searchsorted(bounds, np.arange(256, dtype=np.uint64) << np.uint64(56))
        rows.append(np.concatenate([[fewest - used], used + by_first_byte, [used + len(bounds)]]))
        parts.append(bounds)
        used += len(bounds)
    if not parts:
        return HalfTables(np.zeros(0, np.uint64), np.zeros((0, 258), np.int64))
    return HalfTables(np.concatenate(parts), np.ascontiguousarray(np.array(rows, dtype=np.int64)))


@cache
def _cached_bounds(exponent: int) -> tuple[int, NDArray[np.uint64]]:
    fewest, bounds = half_bounds(exponent)
    return fewest, np.array(bounds, dtype=np.uint64)
