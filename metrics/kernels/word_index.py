"""Words looked up among many, in whatever order these are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from metrics.kernels.loader import INTEGER, POINTER, address, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


class WordIndex:
    """A hash table of distinct words, given as lines that each end with a newline. Some 30 bytes a word."""

    def __init__(self, lines: bytes) -> None:
        types = lines.count(b"\n")
        self._lines = np.frombuffer(lines or b"\n", np.uint8)
        self._starts = np.zeros(types + 1, np.int64)
        # At least half of the slots are free: a search ends at one.
        self._slots = np.zeros(1 << max(2 * types - 1, 1).bit_length(), np.uint64)
        function = kernel("word_index", POINTER, *[INTEGER] * 2, *[POINTER] * 2, INTEGER)
        arrays = address(self._starts), address(self._slots)
        function(address(self._lines), len(lines), types, *arrays, len(self._slots) - 1)

    @property
    def nbytes(self) -> int:
        """Memory that it takes beside the lines."""
        return self._starts.nbytes + self._slots.nbytes

    def places(self, lines: bytes) -> NDArray[np.int32]:
        """The position of each of these words among the words of the index, or -1."""
        places = np.empty(lines.count(b"\n"), np.int32)
        wanted = np.frombuffer(lines or b"\n", np.uint8)
        function = kernel("word_places", POINTER, *[INTEGER] * 2, *[POINTER] * 3, INTEGER, POINTER)
        index = address(self._lines), address(self._starts), address(self._slots), len(self._slots) - 1
        function(address(wanted), len(lines), len(places), *index, address(places))
        return places
