"""The n-grams of texts with their counts, as bytes that can be stored and added up."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import BadState, TooLarge
from steelyard.kernels.nist.ngram_counts import ngram_counts
from steelyard.kernels.nist.ngram_packing import packed_ngrams, unpacked_ngrams
from steelyard.kernels.text.word_order import word_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words

    Numbers = NDArray[np.int64] | NDArray[np.uint32]
    """As they are stored or, after arithmetic, wider."""

MAGIC = b"NGRM"
VERSION = 2
WIDE_VERSION = 1
"""Written by earlier releases: nodes instead of all words in the header, then three arrays of 32-bit numbers."""
LARGEST_COUNT = 2**32 - 1
LARGEST_TOTAL = 2**53
"""More words than any texts have."""
_HEADER = struct.Struct("<4sHHQQQ")


@dataclass(frozen=True)
class NgramHeader:
    """What a table says before its n-grams."""

    deepest: int
    types: int
    width: int
    """Bytes of the words with their newlines."""
    total: int
    """How many words all texts have, those of other chapters as well."""

    SIZE = _HEADER.size

    def to_bytes(self) -> bytes:
        """The letters NGRM, format version and depth (uint16 each), then types, width and total (uint64 each)."""
        return _HEADER.pack(MAGIC, VERSION, self.deepest, self.types, self.width, self.total)

    @classmethod
    def from_bytes(cls, blob: bytes) -> NgramHeader | None:
        """None where the table is of an earlier release. Raises BadState for bytes that begin otherwise."""
        if len(blob) < _HEADER.size or not blob.startswith(MAGIC):
            raise BadState("These bytes are no table of n-grams. Prepare the references again.")
        _, version, *numbers = _HEADER.unpack_from(blob)
        if version == WIDE_VERSION:
            return None
        if version != VERSION:
            raise BadState(f"A table of n-grams has format {version}; this release reads {VERSION}. Upgrade it.")
        header = cls(*numbers)
        if header.total > LARGEST_TOTAL:
            raise BadState("A table of n-grams contradicts itself. Prepare the references again.")
        return header


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
    total: int
    """How many words all texts have: more than those counted here in the table of a chapter."""

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

    def stored(self) -> tuple[NDArray[np.uint32], ...]:
        """Children, words and counts as kernels take them. Raises TooLarge."""
        if self.counts.max(initial=0) > LARGEST_COUNT:
            raise TooLarge(f"An n-gram occurs {self.counts.max():,} times, but {LARGEST_COUNT:,} is the limit.")
        return tuple(np.require(each, np.uint32, ["C", "A"]) for each in (self.children, self.words, self.counts))

    def to_bytes(self) -> bytes:
        """A header, the words (each ended by a newline), then the n-grams (kernels/ngram_stream.h). Raises TooLarge."""
        header = NgramHeader(self.deepest, self.types, len(self.lines), self.total)
        children, words, counts = self.stored()
        sizes = np.array([level.stop - level.start for level in self.levels])
        return b"".join((header.to_bytes(), self.lines, packed_ngrams(children, words, counts, sizes)))

    @classmethod
    def from_bytes(cls, blob: bytes) -> NgramTable:
        """The inverse of `to_bytes`, of any release's. Raises BadState for bytes that it did not write."""
        header = NgramHeader.from_bytes(blob)
        if header is None:
            return _wide_table(blob)
        begin = NgramHeader.SIZE + header.width
        lines = blob[NgramHeader.SIZE : begin]
        if header.deepest and sound_words(lines, header.types, header.width):
            numbers = unpacked_ngrams(blob[begin:], header.types, header.deepest)
            if numbers is not None:
                return cls(header.deepest, lines, *numbers, header.total)
        raise BadState("A table of n-grams is cut off or contradicts itself. Prepare the references again.")


def sound_words(lines: bytes, types: int, width: int) -> bool:
    """Whether these are so many words, each ended by a newline."""
    return len(lines) == width and lines.count(b"\n") == types and lines.endswith(b"\n" if types else b"")


def counted(words: Words, rows: int, deepest: int) -> NgramTable:
    """The n-grams of the first `rows` rows."""
    lines, ids = word_order(words, rows)
    types = int(ids.max(initial=-1)) + 1
    numbers = ngram_counts(ids, words.starts[: rows + 1], types, deepest)
    return NgramTable(deepest, lines, *numbers, len(ids))


def _wide_table(blob: bytes) -> NgramTable:
    """Of an earlier release. Raises BadState."""
    _, _, deepest, types, width, nodes = _HEADER.unpack_from(blob)
    begin = _HEADER.size + width
    if len(blob) != begin + 3 * 4 * nodes:
        raise BadState("A table of n-grams is cut off. Prepare the references again.")
    # Copied: in stored bytes the arrays begin anywhere.
    numbers = np.frombuffer(blob, "<u4", offset=begin).astype(np.uint32).reshape(3, nodes)
    lines = blob[_HEADER.size : begin]
    children, words, counts = numbers
    table = NgramTable(deepest, lines, children, words, counts, int(counts[:types].sum(dtype=np.int64)))
    sound = (
        deepest > 0
        and sound_words(lines, types, width)
        and table.levels[-1].stop == types + int(table.children.sum()) == nodes
    )
    if not sound or (table.words >= types).any() or not table.counts.all():
        raise BadState("A table of n-grams contradicts itself. Prepare the references again.")
    return table
