"""Which n-grams of a table say something, and the counts that tell how much."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from metrics.kernels.loader import INTEGER, POINTER, address, checked, kernel
from metrics.ngram_table import NgramTable

if TYPE_CHECKING:
    from numpy.typing import NDArray


def ngram_pairs(table: NgramTable) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """By node the number of its pair of counts; by pair the count of the context and that of the n-gram.

    The context is what stands before the last word; that of a single word is all words. Raises TooLarge.
    """
    children, _, counts = table.stored()
    nodes = len(counts)
    pairs = np.empty(nodes, np.int32)
    context, own = np.empty((2, nodes), np.int64)
    function = kernel("ngram_pairs", *[POINTER] * 2, *[INTEGER] * 3, *[POINTER] * 3)
    used = checked(
        function(
            address(children), address(counts), table.types, nodes, table.total,
            address(pairs), address(context), address(own),
        )
    )  # fmt: skip
    return pairs, context[:used], own[:used]
