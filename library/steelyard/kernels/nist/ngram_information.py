"""Clipped matches of n-grams, each worth its information."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words


def ngram_information(
    words: Words,
    present: NDArray[np.uint8],
    systems: int,
    known: NDArray[np.int32],
    trie: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]],
    orders: tuple[int, ...],
) -> NDArray[np.float64]:
    """What the matched n-grams of each order say together: (systems, segments, orders), in bits, not rounded.

    An n-gram counts at most as often as in the reference that has it most often; the numbers are added in the order
    of the hypothesis. `known` is the number that each word of a reference has in the `trie` of all n-grams: first
    children, last words and information of its nodes. `present` is (references, segments); `orders` ascend.

    Parameters
    ----------
    words : Words
    present : ndarray of uint8
    systems : int
    known : ndarray of int32
    trie : (ndarray of int64, ndarray of int32, ndarray of float64)
    orders : tuple of int

    Returns
    -------
    ndarray of float64
    """
    out = np.empty((systems, present.shape[1], len(orders)))
    kernel("ngram_information")(
        words.ids, words.types, words.starts, present, systems, known, *trie, np.array(orders, np.int64), out
    )
    return out
