"""How much the n-grams of a table say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.uint32]


def ngram_weights(
    children: Numbers, counts: Numbers, types: int, total: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Of each node, and one behind the last, where its children begin; of each node its information in bits.

    That is log2 of how often its context, what stands before the last word, occurs, divided by how often it does; the
    context of a single word is all words, of which there are `total`.

    Parameters
    ----------
    children : Numbers
    counts : Numbers
    types : int
    total : int

    Returns
    -------
    (ndarray of int64, ndarray of float64)
    """
    nodes = len(counts)
    first_child, bits = np.empty(nodes + 1, np.int64), np.empty(nodes)
    kernel("ngram_weights")(children, counts, types, total, first_child, bits)
    return first_child, bits
