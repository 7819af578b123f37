"""The words of a text in the order of their bytes, whatever order they were met in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words


def word_order(words: Words, rows: int) -> tuple[bytes, NDArray[np.int32]]:
    """Of the first `rows` rows: their distinct words, sorted, each ended by a newline; and all tokens as places there.

    The tokens are those of `words.ids[:words.starts[rows]]`.
    """
    ids = words.ids[: words.starts[rows]]
    position = np.zeros(words.types, np.int32)
    ordered = np.empty(len(words.lines), np.uint8)
    used = np.zeros(1, np.int64)
    kernel("word_order")(ids, words.lines, words.types, position, ordered, used)
    return ordered[: used[0]].tobytes(), position[ids]
