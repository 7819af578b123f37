"""The words of a text in the order of their bytes, whatever order they were met in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from metrics.kernels.loader import INTEGER, POINTER, address, checked, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from metrics.kernels.words import Words


def word_order(words: Words, rows: int) -> tuple[bytes, NDArray[np.int32]]:
    """Of the first `rows` rows: their distinct words, sorted, each ended by a newline; and all tokens as places there.

    The tokens are those of `words.ids[:words.starts[rows]]`.
    """
    ids = words.ids[: words.starts[rows]]
    position = np.zeros(words.types, np.int32)
    lines = np.frombuffer(words.lines or b"\n", np.uint8)
    ordered = np.empty(len(words.lines), np.uint8)
    used = np.zeros(1, np.int64)
    function = kernel("word_order", POINTER, INTEGER, POINTER, INTEGER, *[POINTER] * 3)
    checked(
        function(
            address(ids), len(ids), address(lines), words.types, address(position), address(ordered), address(used)
        )
    )
    return ordered[: used[0]].tobytes(), position[ids]
