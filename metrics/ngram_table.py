"""The n-grams of texts with their counts, as bytes that can be stored and added up."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from metrics.errors import BadState, TooLarge
from metrics.kernels.ngram_counts import ngram_counts
from metrics.kernels.word_order import word_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from metrics.kernels.words import Words

    Integers = NDArray[np.int64]
    Numbers = Integers | NDArray[np.uint32]
    """As they are stored or, after arithmetic, wider."""

MAGIC = b"NGRM"
VERSION = 1
LARGEST_COUNT = 2**32 - 1
_HEADER = struct.Struct("<4sHHQQQ")


@dataclass(frozen=True, eq=False)
class NgramTable:
    """A trie of n-grams of 1 to `deepest` words.

    Nodes come level by level, those of a level by their parents and then by their last word. Those of the first level
    are the words, in the order of their bytes: the same texts have the same table, whatever order they were read in.
    """

    deepest: int
    lines: bytes
    """The words, sorted, each ended by a newline."""
    children: Numbers
    """How many nodes of the next level each node has."""
    words: Numbers
    """The last word of each node, as a position among the words."""
    counts: Numbers

    @cached_property
    def types(self) -> int:
        """How many words there are."""
        return self.lines.count(b"\n")

    @property
    def levels(self) -> list[slice]:
        """Where the nodes of each level are."""
        levels = [slice(0, self.types)]
        for _ in range(1, self.deepest):
            end = levels[-1].stop
            levels.append(slice(end, end + int(self.children[levels[-1]].sum())))
        return levels

    def parents(self, level: slice) -> Integers:
        """For the nodes of the level behind this one, their parents' positions within this one."""
        children = self.children[level]
        return np.repeat(np.arange(len(children)), children)

    def stored(self) -> tuple[NDArray[np.uint32], ...]:
        """Children, words and counts as they are stored. Raises TooLarge."""
        if self.counts.max(initial=0) > LARGEST_COUNT:
            raise TooLarge(f"An n-gram occurs {self.counts.max():,} times, but {LARGEST_COUNT:,} is the limit.")
        # Aligned, for the kernels: in stored bytes the arrays begin anywhere.
        return tuple(np.require(each, "<u4", ["C", "A"]) for each in (self.children, self.words, self.counts))

    def to_bytes(self) -> bytes:
        """A header, the words (each ended by a newline), then three arrays of little-endian 32-bit numbers.

        The header: "NGRM", format version and depth (uint16 each), then how many words there are, how many bytes
        they take and how many nodes there are (uint64 each). Raises TooLarge.
        """
        header = _HEADER.pack(MAGIC, VERSION, self.deepest, self.types, len(self.lines), len(self.words))
        return b"".join((header, self.lines, *(each.tobytes() for each in self.stored())))

    @classmethod
    def from_bytes(cls, blob: bytes) -> NgramTable:
        """The inverse of `to_bytes`. Raises BadState for bytes that it did not write."""
        if len(blob) < _HEADER.size or not blob.startswith(MAGIC):
            raise BadState("These bytes are no table of n-grams. Prepare the references again.")
        _, version, deepest, types, width, nodes = _HEADER.unpack_from(blob)
        if version != VERSION:
            raise BadState(f"A table of n-grams has format {version}; this release reads {VERSION}. Upgrade it.")
        if len(blob) != _HEADER.size + width + 3 * 4 * nodes:
            raise BadState("A table of n-grams is cut off. Prepare the references again.")
        begin = _HEADER.size + width
        lines = blob[_HEADER.size : begin]
        numbers = np.frombuffer(blob, "<u4", offset=begin).reshape(3, nodes)
        table = cls(deepest, lines, *numbers)
        sound = (
            deepest > 0
            and table.types == types
            and (not lines or lines.endswith(b"\n"))
            and table.levels[-1].stop == types + int(table.children.sum()) == nodes
        )
        if not sound or (table.words >= types).any() or not table.counts.all():
            raise BadState("A table of n-grams contradicts itself. Prepare the references again.")
        return table


def counted(words: Words, rows: int, deepest: int) -> NgramTable:
    """The n-grams of the first `rows` rows."""
    lines, ids = word_order(words, rows)
    types = int(ids.max(initial=-1)) + 1
    numbers = ngram_counts(ids, words.starts[: rows + 1], types, deepest)
    return NgramTable(deepest, lines, *numbers)
