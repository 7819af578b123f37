"""Words looked up in a sorted vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


def find_words(lines: bytes, count: int, vocabulary: NDArray[np.uint8], starts: NDArray[np.int64]) -> NDArray[np.int32]:
    """The number of each word in the vocabulary, or -1: (count,).

    `lines` are `count` words, each ended by a newline. `vocabulary` has words in the order of their bytes, each ended
    by a newline; word i is `vocabulary[starts[i]:starts[i + 1]]`.

    Parameters
    ----------
    lines : bytes
    count : int
    vocabulary : ndarray of uint8
    starts : ndarray of int64

    Returns
    -------
    ndarray of int32
    """
    places = np.empty(count, np.int32)
    if count:
        kernel("find_words")(lines, count, vocabulary, starts, places)
    return places
