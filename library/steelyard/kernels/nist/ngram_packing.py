"""Tables of n-grams as few bytes, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.uint32]

LARGEST_RECORD = 13
"""Bytes of an n-gram at most."""

READ_AHEAD = 32
"""Bytes behind the last that are read, whatever they are."""


def packed_ngrams(children: Numbers, words: Numbers, counts: Numbers, sizes: NDArray[np.int64]) -> bytes:
    """The n-grams of a table, each before the longer ones that begin with it; `sizes` are the nodes of each level."""
    levels = np.concatenate(([0], np.cumsum(sizes)))
    packed = np.empty(len(words) * LARGEST_RECORD + READ_AHEAD, np.uint8)
    used = kernel("ngram_packed")(children, words, counts, levels, packed)
    return packed[:used].tobytes()


def unpacked_ngrams(packed: bytes, types: int, deepest: int) -> tuple[Numbers, Numbers, Numbers] | None:
    """Children, words and counts of what `packed_ngrams` made, None for other bytes."""
    source = packed + bytes(READ_AHEAD)
    sizes = np.zeros(deepest, np.int64)
    if kernel("ngram_unpacked")(source, types, sizes, None, None, None, None):
        return None
    levels = np.concatenate(([0], np.cumsum(sizes)))
    children, words, counts = (np.empty(levels[-1], np.uint32) for _ in range(3))
    kernel("ngram_unpacked")(source, types, sizes, levels, children, words, counts)
    return children, words, counts
