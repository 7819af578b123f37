"""Words looked up among many, in whatever order these are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


class WordIndex:
    """A hash table of distinct words, given as lines that each end with a newline. Some 30 bytes a word."""

    def __init__(self, lines: bytes) -> None:
        types = lines.count(b"\n")
        self._lines = lines
        self._starts = np.zeros(types + 1, np.int64)
        # At least half of the slots are free: a search ends at one.
        self._slots = np.zeros(1 << max(2 * types - 1, 1).bit_length(), np.uint64)
        kernel("word_index")(lines, types, self._starts, self._slots)

    @property
    def nbytes(self) -> int:
        """Memory that it takes beside the lines."""
        return self._starts.nbytes + self._slots.nbytes

    def places(self, lines: bytes) -> NDArray[np.int32]:
        """The position of each of these words among the words of the index, or -1."""
        places = np.empty(lines.count(b"\n"), np.int32)
        kernel("word_places")(lines, self._lines, self._starts, self._slots, places)
        return places
