"""Sorted tables of n-grams added up in one pass, with a window of each in memory."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import BadArray, BadState, TooLarge
from steelyard.kernels.bindings import kernel
from steelyard.kernels.nist.ngram_packing import READ_AHEAD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

WINDOW = 1 << 16
"""Bytes of each table, and of each chapter that is written, that are held at once."""

DAMAGED, DONE, TOO_MANY, FULL = -2, -3, -4, -5

_NUMBERS = ("tables", "chapters", "deepest", "adds", "room", "capacity")
_ARRAYS = (
    *("windows", "begins", "ends", "final", "places", "last", "keys", "types", "first_type", "numbers", "own"),
    *("chapter_of", "heap", "waiting", "heaped", "unread", "counts"),
    *("written", "used", "ends_at", "written_last", "path", "told", "full"),
)


class _Merging(ctypes.Structure):
    """As the kernel has it: what stays from one call to the next."""

    _fields_ = [*((name, ctypes.c_int64) for name in _NUMBERS), *((name, ctypes.c_void_p) for name in _ARRAYS)]


@dataclass(frozen=True, eq=False)
class SortedNgrams:
    """One of the tables."""

    pieces: Iterator[bytes]
    """Its n-grams as `packed_ngrams` has them, cut anywhere."""
    numbers: NDArray[np.int32]
    """The number of each of its words among the words of all tables, ascending."""
    own: NDArray[np.int32]
    """The same among those of its chapter."""
    chapter: int
    """Chapters follow one another."""


def merge_ngrams(
    tables: Sequence[SortedNgrams], deepest: int, write: Callable[[int, bytes], None], *, adds: bool = True
) -> None:
    """For each chapter the n-grams of its tables, with the counts of all tables, as `packed_ngrams` has them.

    Those that say nothing and lead to none of the chapter that does are left out. `write` is given a chapter's number
    and its next bytes. Without `adds` equal n-grams have equal counts in all tables, which they keep.
    Raises BadState for bytes of another origin, TooLarge for counts of 2^32 and more.
    """
    if any(table.numbers.shape != table.own.shape for table in tables):
        raise BadArray("A table has more or fewer numbers of words than its chapter.")
    chapters = max((table.chapter for table in tables), default=-1) + 1
    capacity = WINDOW + (deepest + 2) * READ_AHEAD
    arrays = _arrays(tables, chapters, deepest, capacity)
    numbers = (len(tables), chapters, deepest, int(adds), WINDOW + READ_AHEAD, capacity)
    state = _Merging(*numbers, *(arrays[name].ctypes.data for name in _ARRAYS))
    windows = [_Window(table.pieces, arrays, number) for number, table in enumerate(tables)]
    written, used = arrays["written"], arrays["used"]

    def take_away(least: int) -> None:
        for chapter in np.flatnonzero(used > least).tolist():
            write(chapter, written[chapter, : used[chapter]].tobytes())
            used[chapter] = 0

    merging = kernel("ngram_merging")
    while (wanted := merging(ctypes.addressof(state))) != DONE:
        if wanted == FULL:
            take_away(capacity // 2)
            arrays["full"][0] = 0
        elif wanted == TOO_MANY:
            raise TooLarge(f"An n-gram occurs {2**32:,} times or more, which is the limit.")
        elif wanted == DAMAGED:
            raise BadState("A table of n-grams contradicts itself. Prepare the references again.")
        else:
            windows[wanted].fill()
    take_away(0)


def _arrays(tables: Sequence[SortedNgrams], chapters: int, deepest: int, capacity: int) -> dict[str, NDArray[Any]]:
    """What the kernel works on, by the names that it has there: nothing read yet, nothing written."""
    count = len(tables)
    types = np.array([len(table.numbers) for table in tables], np.int64)
    none = np.zeros(0, np.int32)
    return {
        "windows": np.zeros((count, WINDOW + READ_AHEAD), np.uint8),
        "begins": np.zeros(count, np.int64),
        "ends": np.zeros(count, np.int64),
        "final": np.zeros(count, np.uint8),
        # Depth and count: -1 is the root.
        "places": np.tile(np.array([-1, 0], np.int32), (count, 1)),
        "last": np.zeros((count, deepest), np.uint32),
        "keys": np.zeros(count, np.int64),
        "types": types,
        "first_type": np.cumsum(types) - types,
        "numbers": np.concatenate([none, *(table.numbers for table in tables)]).astype(np.int32),
        "own": np.concatenate([none, *(table.own for table in tables)]).astype(np.int32),
        "chapter_of": np.array([table.chapter for table in tables], np.int64),
        "heap": np.zeros(count, np.int32),
        "waiting": np.arange(count, dtype=np.int32),
        "heaped": np.zeros(1, np.int64),
        "unread": np.full(1, count, np.int64),
        "counts": np.zeros(deepest, np.uint64),
        "written": np.zeros((chapters, capacity), np.uint8),
        "used": np.zeros(chapters, np.int64),
        "ends_at": np.tile(np.array([-1, 0], np.int32), (chapters, 1)),
        "written_last": np.zeros((chapters, deepest), np.uint32),
        "path": np.zeros((chapters, deepest), np.uint32),
        "told": np.zeros(chapters, np.int64),
        "full": np.zeros(1, np.int64),
    }


class _Window:
    """What the kernel sees of one table."""

    def __init__(self, pieces: Iterator[bytes], arrays: dict[str, NDArray[Any]], table: int) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")
        self._bytes = arrays["windows"][table]
        self._begin, self._end, self._final = (arrays[name][table : table + 1] for name in ("begins", "ends", "final"))

    def fill(self) -> None:
        """Drop what was read and add as much as there is room for; zeros behind the last."""
        begin, end = int(self._begin[0]), int(self._end[0])
        self._bytes[: end - begin] = self._bytes[begin:end].copy()
        begin, end = 0, end - begin
        while end < WINDOW:
            if not self._rest:
                piece = next(self._pieces, None)
                if piece is None:
                    self._final[0] = 1
                    break
                self._rest = memoryview(piece)
            taken = min(len(self._rest), WINDOW - end)
            self._bytes[end : end + taken] = np.frombuffer(self._rest, np.uint8, taken)
            self._rest = self._rest[taken:]
            end += taken
        self._bytes[end:] = 0
        self._begin[0], self._end[0] = begin, end
