"""Tables of n-grams added up in one pass: whatever their size, a window of each is in memory."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import BadState
from steelyard.kernels.nist.ngram_merging import SortedNgrams, merge_ngrams
from steelyard.kernels.text.word_order import word_order
from steelyard.kernels.text.words import words
from steelyard.metrics.ngram.ngram_table import NgramHeader, NgramTable, sound_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    Integers = NDArray[np.int32]


def merged(tables: Sequence[Iterable[bytes]]) -> bytes:
    """The table of all, without n-grams that say nothing and lead to none that does.

    Tables are bytes of the same depth, cut anywhere. Raises BadState, TooLarge.
    """
    written: list[bytes] = []
    _merge([NgramStream(pieces) for pieces in tables], [0] * len(tables), lambda _, piece: written.append(piece))
    return b"".join(written)


def merged_in_chapters(
    tables: Sequence[Iterable[bytes]], write: Callable[[int, bytes], None], largest: int
) -> list[int]:
    """As `merged`, but of each table the chapter that has its n-grams, with the counts of all tables.

    A chapter is of consecutive tables of at most `largest` words together, or of one. `write` is given a chapter and
    its next bytes: several are written at a time.
    """
    streams = [NgramStream(pieces) for pieces in tables]
    chapters, size = [0], 0
    for stream in streams:
        begins = size and size + stream.total > largest
        chapters.append(chapters[-1] + bool(begins))
        size = stream.total + (0 if begins else size)
    _merge(streams, chapters[1:], write)
    return chapters[1:]


def united(chapters: Sequence[bytes]) -> bytes:
    """One table with what each of some chapters of the same tables has."""
    if len(chapters) == 1:
        return chapters[0]
    written: list[bytes] = []
    streams = [NgramStream([chapter]) for chapter in chapters]
    _merge(streams, [0] * len(streams), lambda _, piece: written.append(piece), adds=False)
    return b"".join(written)


class NgramStream:
    """A table's bytes, of which only the words are in memory. Raises BadState."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._read = b""
        self._read_to(NgramHeader.SIZE)
        header = NgramHeader.from_bytes(self._read)
        if header is None:
            # Of an earlier release: as this one writes it.
            blob = b"".join(chain([self._read], self._pieces))
            self._pieces = iter([NgramTable.from_bytes(blob).to_bytes()])
            self._read = b""
            self._read_to(NgramHeader.SIZE)
            header = NgramHeader.from_bytes(self._read)
            assert header is not None
        self.deepest, self.total = header.deepest, header.total
        end = NgramHeader.SIZE + header.width
        self._read_to(end)
        self.lines, self._read = self._read[NgramHeader.SIZE : end], self._read[end:]
        if not self.deepest or not sound_words(self.lines, header.types, header.width):
            raise BadState("A table of n-grams is cut off or contradicts itself. Prepare the references again.")

    def ngrams(self) -> Iterator[bytes]:
        """What comes behind the words, once."""
        return chain([self._read] if self._read else [], self._pieces)

    def _read_to(self, size: int) -> None:
        """Have so many bytes, or all."""
        read = [self._read]
        have = len(self._read)
        while have < size and (piece := next(self._pieces, None)) is not None:
            read.append(piece)
            have += len(piece)
        self._read = b"".join(read)


def _merge(
    streams: Sequence[NgramStream], chapters: Sequence[int], write: Callable[[int, bytes], None], *, adds: bool = True
) -> None:
    """Write each chapter's table. The numbers in `chapters` ascend from 0, without gaps."""
    deepest = streams[0].deepest
    if any(stream.deepest != deepest for stream in streams):
        raise BadState("Tables of n-grams have different depths. Prepare the references again.")
    total = sum(stream.total for stream in streams) if adds else streams[0].total
    lines, numbers = _numbered([stream.lines for stream in streams])
    ends = np.flatnonzero(np.frombuffer(lines, np.uint8) == ord("\n")) + 1
    tables = []
    for chapter in range(chapters[-1] + 1):
        members = [place for place, number in enumerate(chapters) if number == chapter]
        own = np.unique(np.concatenate([numbers[place] for place in members]))
        own_lines = _chosen(lines, ends, own)
        write(chapter, NgramHeader(deepest, len(own), len(own_lines), total).to_bytes())
        write(chapter, own_lines)
        for place in members:
            places = np.searchsorted(own, numbers[place]).astype(np.int32)
            tables.append(SortedNgrams(streams[place].ngrams(), numbers[place], places, chapter))
    merge_ngrams(tables, deepest, write, adds=adds)


def _numbered(vocabularies: Sequence[bytes]) -> tuple[bytes, list[Integers]]:
    """All words sorted, and of each vocabulary the numbers that its words have there. Raises BadState."""
    text = b"".join(vocabularies)
    rows = text.count(b"\n")
    # No word holds white space, so each is a token of its own.
    lines, ids = word_order(words(text[:-1], max(rows, 1)), max(rows, 1))
    numbers = np.split(ids, np.cumsum([vocabulary.count(b"\n") for vocabulary in vocabularies])[:-1])
    if len(ids) != rows or any((np.diff(each) <= 0).any() for each in numbers):
        raise BadState("The words of a table of n-grams are not in order. Prepare the references again.")
    return lines, numbers


def _chosen(lines: bytes, ends: NDArray[np.int64], numbers: Integers) -> bytes:
    """Some of the words, each ended by a newline; `ends` says where each of all ends."""
    if len(numbers) == len(ends):
        return lines
    chosen = np.zeros(len(ends), np.bool_)
    chosen[numbers] = True
    return np.frombuffer(lines, np.uint8)[np.repeat(chosen, np.diff(ends, prepend=0))].tobytes()
