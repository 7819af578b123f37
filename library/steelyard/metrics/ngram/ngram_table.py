"""The n-grams of texts with their counts, as bytes that can be stored and added up."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import BadState, TooLarge
from steelyard.kernels.nist.ngram_counts import ngram_counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words

    Numbers = NDArray[np.uint32]
    Integers = NDArray[np.int64]

MOST_WORDS = 1 << 21
"""Words of all references together, so that the n-grams of all fit in some 300 MB."""

MAGIC = b"NGRM"
VERSION = 3
_HEADER = struct.Struct("<4sHHQQQ3B")
"""The letters NGRM, format version, depth; types, bytes of their lines, nodes; bytes of a number of each array."""


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
    def total(self) -> int:
        """How many words all texts have."""
        return int(self.counts[: self.types].sum(dtype=np.int64))

    @property
    def levels(self) -> list[slice]:
        """Where the nodes of each level are."""
        levels = [slice(0, self.types)]
        for _ in range(1, self.deepest):
            end = levels[-1].stop
            levels.append(slice(end, end + int(self.children[levels[-1]].sum(dtype=np.int64))))
        return levels

    def to_bytes(self) -> bytes:
        """A header, the words, then the three arrays of little-endian numbers, each as short as its largest.

        Returns
        -------
        bytes
        """
        arrays = [
            each.astype(np.min_scalar_type(each.max(initial=0)).newbyteorder("<"))
            for each in (self.children, self.words, self.counts)
        ]
        sizes = (each.itemsize for each in arrays)
        header = _HEADER.pack(MAGIC, VERSION, self.deepest, self.types, len(self.lines), len(self.counts), *sizes)
        return b"".join((header, self.lines, *(each.tobytes() for each in arrays)))

    @classmethod
    def from_bytes(cls, blob: bytes) -> NgramTable:
        """The inverse of `to_bytes`.

        Parameters
        ----------
        blob : bytes

        Returns
        -------
        NgramTable

        Raises
        ------
        BadState
            For bytes that it did not write.
        TooLarge
            For a table of too many words.
        """
        if len(blob) < _HEADER.size or not blob.startswith(MAGIC):
            raise BadState("These bytes are no table of n-grams. Count the references again.")
        _, version, deepest, types, width, nodes, *sizes = _HEADER.unpack_from(blob)
        if version != VERSION:
            raise BadState(
                f"A table of n-grams has format {version}, but this release reads {VERSION}. "
                "Count the references again."
            )
        at = _HEADER.size + width
        if not {*sizes} <= {1, 2, 4} or len(blob) != at + nodes * sum(sizes):
            raise BadState("A table of n-grams is cut off. Count the references again.")
        lines, arrays = blob[_HEADER.size : at], []
        for size in sizes:
            arrays.append(np.frombuffer(blob, f"<u{size}", nodes, at).astype(np.uint32))
            at += nodes * size
        table = cls(deepest, lines, *arrays)
        if not table._is_sound(types, width):
            raise BadState("A table of n-grams contradicts itself. Count the references again.")
        check_total(table.total)
        return table

    def _is_sound(self, types: int, width: int) -> bool:
        nodes = len(self.counts)
        return (
            self.deepest > 0
            and len(self.lines) == width
            and self.types == types
            and self.lines.endswith(b"\n" if types else b"")
            and self.levels[-1].stop == types + int(self.children.sum(dtype=np.int64)) == nodes
            and not (self.words >= types).any()
            and bool(self.counts.all())
        )


def check_total(words: int) -> None:
    """See that the references do not have too many words.

    Parameters
    ----------
    words : int

    Raises
    ------
    TooLarge
        Where they have.
    """
    if words > MOST_WORDS:
        raise TooLarge(
            f"The references have {words:,} words or more, but NIST counts the n-grams of up to {MOST_WORDS:,}. "
            "Leave NIST out, or score the test set in parts."
        )


def counted(words: Words, rows: int, deepest: int) -> NgramTable:
    """The n-grams of texts.

    Parameters
    ----------
    words : Words
    rows : int
        The first rows are counted.
    deepest : int
        The longest n-grams.

    Returns
    -------
    NgramTable

    Raises
    ------
    TooLarge
        Where there are too many words.
    """
    ids = words.ids[: words.starts[rows]]
    check_total(len(ids))
    # Types are numbered as they are met: those of these rows come first.
    vocabulary = words.lines_to(int(ids.max(initial=-1)) + 1).split(b"\n")[:-1]
    order = sorted(range(len(vocabulary)), key=vocabulary.__getitem__)
    position = np.empty(len(order), np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    numbers = ngram_counts(position[ids], words.starts[: rows + 1], len(order), deepest)
    return NgramTable(deepest, b"".join(vocabulary[word] + b"\n" for word in order), *numbers)


def merged(parts: Iterable[bytes]) -> NgramTable:
    """The table of all texts, without n-grams that say nothing and lead to none that does.

    An n-gram says nothing where it occurs as often as its words but the last.

    Parameters
    ----------
    parts : iterable of bytes
        Tables of the same depth; no more of them are read than may have so many words.

    Returns
    -------
    NgramTable

    Raises
    ------
    BadState
        For bytes that are no such table.
    TooLarge
        Where they have too many words together.
    """
    tables: list[NgramTable] = []
    for part in parts:
        tables.append(NgramTable.from_bytes(part))
        check_total(sum(table.total for table in tables))
    deepest = tables[0].deepest
    if any(table.deepest != deepest for table in tables):
        raise BadState("Tables of n-grams have different depths. Count the references again.")
    vocabulary, numbers = _numbered([table.lines for table in tables])
    levels = _merged_levels(tables, numbers, len(vocabulary))
    kept = np.ones(0, bool)
    arrays: tuple[list[Numbers], ...] = ([], [], [])
    for depth in reversed(range(deepest)):
        level = levels[depth]
        below = levels[depth + 1].parents[kept] if depth + 1 < deepest else np.zeros(0, np.int64)
        fanout = np.bincount(below, minlength=len(level.counts))
        says = level.counts != levels[depth - 1].counts[level.parents] if depth else np.ones(len(level.counts), bool)
        kept = says | (fanout > 0)
        for written, array in zip(arrays, (fanout, level.words, level.counts), strict=True):
            written.append(array[kept].astype(np.uint32))
    lines = b"".join(word + b"\n" for word in vocabulary)
    return NgramTable(deepest, lines, *(np.concatenate(each[::-1]) for each in arrays))


@dataclass(frozen=True, eq=False)
class _Level:
    """The n-grams of one length in all tables."""

    parents: Integers
    """Positions on the level above."""
    words: Integers
    counts: Integers


def _numbered(vocabularies: Sequence[bytes]) -> tuple[list[bytes], list[Integers]]:
    """All words sorted, and of each vocabulary the numbers that its words have there. Raises BadState."""
    listed = [lines.split(b"\n")[:-1] for lines in vocabularies]
    every = sorted(set().union(*listed))
    number_of = {word: number for number, word in enumerate(every)}
    numbers = [np.fromiter(map(number_of.__getitem__, words), np.int64, len(words)) for words in listed]
    if any((np.diff(each) <= 0).any() for each in numbers):
        raise BadState("The words of a table of n-grams are not in order. Count the references again.")
    return every, numbers


def _merged_levels(tables: Sequence[NgramTable], numbers: Sequence[Integers], types: int) -> list[_Level]:
    """Level by level: an n-gram is known by its parent, which is merged already, and its last word."""
    levels: list[_Level] = []
    slices = [table.levels for table in tables]
    # Of each table the merged node of each of its nodes on the level above, and how many children it has.
    above = [(np.zeros(1, np.int64), np.array([table.types])) for table in tables]
    for depth in range(tables[0].deepest):
        own = [each[depth] for each in slices]
        keys = [
            np.repeat(*parents) * types + number[table.words[level]]
            for table, number, level, parents in zip(tables, numbers, own, above, strict=True)
        ]
        found, places = np.unique(np.concatenate(keys), return_inverse=True)
        counts = np.bincount(
            places, np.concatenate([table.counts[level] for table, level in zip(tables, own, strict=True)]), len(found)
        )
        levels.append(_Level(*divmod(found, max(types, 1)), counts.astype(np.int64)))
        nodes = np.split(places, np.cumsum([len(each) for each in keys])[:-1])
        above = [(each, table.children[level]) for each, table, level in zip(nodes, tables, own, strict=True)]
    return levels
