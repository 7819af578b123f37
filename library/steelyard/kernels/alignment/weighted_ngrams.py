"""Clipped matches of n-grams whose words have weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words

FULL = 2**24
"""The weight of a word that was not corrected."""


def weighted_ngrams(
    words: Words,
    present: NDArray[np.uint8],
    systems: int,
    corrected: NDArray[np.int32],
    weights: NDArray[np.int64],
    orders: tuple[int, ...],
) -> NDArray[np.int64]:
    """The credit of the n-grams of each order, in parts of FULL and times the order: (systems, segments, orders).

    `corrected` and `weights` are (references, words of all hypotheses): what each word became for that reference,
    and its weight from 0 to FULL. An n-gram that the corrected hypothesis shares with the reference is worth the
    mean weight of its words; of several that became the same n-gram the heaviest count, the first on ties, as many
    as the reference has. What the occurrences of a distinct original n-gram are worth together is taken from the
    reference for which it is the most. `present` is (references, segments); `orders` ascend.

    Parameters
    ----------
    words : Words
    present : ndarray of uint8
    systems : int
    corrected : ndarray of int32
    weights : ndarray of int64
    orders : tuple of int

    Returns
    -------
    ndarray of int64
    """
    out = np.empty((systems, present.shape[1], len(orders)), np.int64)
    kernel("weighted_ngrams")(
        words.ids, words.starts, present, corrected, weights, systems, np.array(orders, np.int64), out
    )
    return out
