"""How often one system is above another where two metrics exchange scores and permutations turn segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LANES = 16
"""Trials that are worked on side by side."""

TOGETHER = 6
"""Segments whose sums are all made."""

TABLES = 3
"""How many times so many at once."""


def bits_of_segments(turned: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """What permutations turn, for `exchanged_sums`.

    Parameters
    ----------
    turned : ndarray of uint8, shape (permutations, segments)
        1 where a permutation turns a segment, else 0.

    Returns
    -------
    ndarray of uint8, shape (groups, permutations)
        A bit for each of TOGETHER segments, the lowest one first; groups are a multiple of TABLES.
    """
    permutations, segments = turned.shape
    groups = TABLES * -(-segments // (TOGETHER * TABLES))
    filled = np.zeros((permutations, groups * TOGETHER), np.uint8)
    filled[:, :segments] = turned
    bits: NDArray[np.uint8] = np.packbits(filled.reshape(permutations, groups, TOGETHER), axis=-1, bitorder="little")
    return np.ascontiguousarray(bits[..., 0].T)


def exchanged_sums(scores: Floats, swapped: NDArray[np.bool_], turned: NDArray[np.uint8]) -> Floats:
    """The sums of scores over the cells that a trial exchanges in the segments that a permutation turns.

    Parameters
    ----------
    scores : ndarray of float64, shape (metrics, rows, segments)
        On a grid where their sums are exact.
    swapped : ndarray of bool, shape (rows, segments, LANES)
        Where each of the trials exchanges scores.
    turned : ndarray of uint8, shape (groups, permutations)
        As `bits_of_segments` makes it.

    Returns
    -------
    ndarray of float64, shape (metrics, rows, permutations, LANES)
    """
    metrics, rows, _ = scores.shape
    found = np.empty((metrics, rows, turned.shape[1], LANES))
    kernel("exchanged_sums")(scores, swapped.view(np.uint8), turned, found)
    return found


def exchanged_half_wins(
    whole: Floats,
    moved: Floats,
    compared: NDArray[np.int64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    counts: NDArray[np.int32],
) -> None:
    """Add of each pair of rows twice the permutations where the left one is above, and once those where they are equal.

    Parameters
    ----------
    whole : ndarray of float64, shape (metrics, rows, permutations)
        The sums before anything is exchanged.
    moved : ndarray of float64, shape (metrics, rows, permutations, LANES)
        Those of what each trial exchanges.
    compared : ndarray of int64, shape (comparisons, 2)
        Positions of metrics that exchange scores.
    left, right : ndarray of int64, shape (pairs,)
        Positions of rows.
    counts : ndarray of int32, shape (2, comparisons, pairs, LANES)
        Those of the first metric, and of the second one. It is changed.
    """
    kernel("exchanged_half_wins")(whole, moved, compared, left, right, counts)
