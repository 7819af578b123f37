"""Code points without white space, and the words that the white space separated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from metrics.errors import BadText
from metrics.kernels.loader import INTEGER, POINTER, address, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Characters:
    """The code points of all rows of a batch, with all that `str.split()` takes for white space left out.

    Row r holds `codes[starts[r]:starts[r + 1]]` and is made of the words number `word_starts[r]` up to
    `word_starts[r + 1] - 1`; word w is `codes[words[w]:words[w + 1]]`.
    """

    codes: NDArray[np.uint32]
    starts: NDArray[np.int64]
    words: NDArray[np.int64]
    word_starts: NDArray[np.int64]


def characters(text: bytes, rows: int) -> Characters:
    """The code points of `rows` lines of UTF-8, joined by line feeds.

    Raises BadText where the bytes are not that many lines or not UTF-8.
    """
    size = len(text)
    # Room for the worst case; what is not written to costs no memory.
    codes = np.empty(size + 1, np.uint32)
    words = np.empty(size + 2, np.int64)
    starts = np.empty(rows + 1, np.int64)
    word_starts = np.empty(rows + 1, np.int64)
    source = np.frombuffer(text, np.uint8) if size else np.zeros(1, np.uint8)
    function = kernel("characters_extract", POINTER, INTEGER, INTEGER, *[POINTER] * 4)
    length = function(
        address(source), size, rows, address(codes), address(starts), address(words), address(word_starts)
    )
    if length < 0:
        raise BadText(f"The text is not {rows} lines of UTF-8. Texts read by metrics.text.plain always are.")
    return Characters(codes[:length], starts, words[: word_starts[-1] + 1], word_starts)
