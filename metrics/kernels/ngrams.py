"""Clipped word n-gram matches of all systems of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from metrics.kernels.loader import INTEGER, POINTER, address, checked, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from metrics.kernels.words import Words


def ngram_statistics(
    words: Words, present: NDArray[np.uint8], systems: int, orders: tuple[int, ...]
) -> NDArray[np.float64]:
    """Lengths, matches and totals: (systems, segments, 2 + 2 * len(orders)).

    Columns: hypothesis length; length of the reference closest to it, the shorter on ties; clipped matches of
    each order; n-grams of each order. `present` is (references, segments); `orders` ascend.
    """
    references, segments = present.shape
    chosen = np.array(orders, np.int64)
    out = np.empty((systems, segments, 2 + 2 * len(orders)))
    function = kernel("ngram_statistics", POINTER, INTEGER, *[POINTER] * 2, *[INTEGER] * 3, POINTER, INTEGER, POINTER)
    checked(
        function(
            address(words.ids),
            words.types,
            address(words.starts),
            address(present),
            references,
            systems,
            segments,
            address(chosen),
            len(orders),
            address(out),
        )
    )
    return out
