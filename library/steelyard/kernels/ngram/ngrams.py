"""Clipped word n-gram matches of all hypotheses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words


def ngram_statistics(
    words: Words, present: NDArray[np.uint8], systems: int, orders: tuple[int, ...]
) -> NDArray[np.float64]:
    """Lengths, matches and totals: (systems, segments, 2 + 2 * len(orders)).

    Columns: hypothesis length; length of the reference closest to it, the shorter on ties; clipped matches of
    each order; n-grams of each order. `present` is (references, segments); `orders` ascend.

    Parameters
    ----------
    words : Words
    present : ndarray of uint8
    systems : int
    orders : tuple of int

    Returns
    -------
    ndarray of float64
    """
    out = np.empty((systems, present.shape[1], 2 + 2 * len(orders)))
    kernel("ngram_statistics")(words.ids, words.types, words.starts, present, systems, np.array(orders, np.int64), out)
    return out
