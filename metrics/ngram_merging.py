"""Tables of n-grams merged range by range: as many n-grams in memory at once as fit, whatever all of them are.

Words are sorted in every table, and nodes by their parents: the n-grams that begin with a range of words are a run of
nodes on each level. Such a range is added up and thinned out alone, and what stays of all ranges follows one another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from metrics.kernels.ngram_weights import ngrams_that_say
from metrics.ngram_table import NgramTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

LARGEST_RANGE = 1_000_000
"""N-grams of all tables that are added up at once, some 100 MB."""

HELD_RANGES = 8
"""Ranges for which every table is looked at once, and of which their n-grams are held: 12 bytes each."""

Level = tuple["NDArray[np.uint32]", "NDArray[np.uint32]", "NDArray[np.uint32]"]
"""Of some nodes of one level: how many children each has, its last word, and how often it occurs."""


def merged(blobs: Sequence[bytes], largest: int = LARGEST_RANGE) -> NgramTable:
    """The table of all, without n-grams that say nothing and lead to none that does; the same for every `largest`.

    `blobs` are tables as bytes, of the same depth. They are looked at one at a time and some times over, so that
    unpacking them can be left until then. Raises BadState, TooLarge.
    """
    vocabularies, sizes, deepest = [], [], 1
    for blob in blobs:
        table = NgramTable.from_bytes(blob)
        deepest = table.deepest
        vocabularies.append(table.lines)
        sizes.append(_sizes(table))
    types = sorted(set().union(*(lines.split(b"\n")[:-1] for lines in vocabularies)))
    lines = b"".join(each + b"\n" for each in types)
    numbers = _numbers(types, vocabularies)
    del types, vocabularies
    weights = np.zeros(lines.count(b"\n"), np.int64)
    for own, size in zip(numbers, sizes, strict=True):
        weights[own] += size
    ranges = []
    for outer in _cuts(weights, HELD_RANGES * largest):
        held = [_levels(NgramTable.from_bytes(blob), own, outer) for blob, own in zip(blobs, numbers, strict=True)]
        for inner in _cuts(weights, largest, *outer):
            parts = [
                _run(levels, *(np.searchsorted(own, inner) - np.searchsorted(own, outer[0])))
                for levels, own in zip(held, numbers, strict=True)
            ]
            ranges.append(_thinned(parts, numbers, inner))
    children, words, counts = (
        np.concatenate([each[level][column] for level in range(deepest) for each in ranges] or [np.zeros(0, np.uint32)])
        for column in range(3)
    )
    return NgramTable(deepest, lines, children, words, counts)


def _numbers(types: Sequence[bytes], vocabularies: Sequence[bytes]) -> list[Integers]:
    """For each table the positions of its words among all."""
    position = {each: number for number, each in enumerate(types)}
    return [np.array([position[each] for each in lines.split(b"\n")[:-1]], np.int64) for lines in vocabularies]


def _sizes(table: NgramTable) -> Integers:
    """By word, how many n-grams of the table begin with it."""
    sizes = np.ones(table.types, np.int64)
    # How many nodes of the level at hand each word leads to.
    of_word = np.ones(table.types, np.int64)
    for level in table.levels[:-1]:
        below = np.concatenate(([0], np.cumsum(table.children[level], dtype=np.int64)))
        ends = np.concatenate(([0], np.cumsum(of_word)))
        of_word = np.diff(below[ends])
        sizes += of_word
    return sizes


def _cuts(weights: Integers, largest: int, first: int = 0, last: int | None = None) -> Iterator[tuple[int, int]]:
    """Ranges of the words first to last that at most so many n-grams begin with, or single words."""
    before = np.concatenate(([0], np.cumsum(weights)))
    begin, end = first, len(weights) if last is None else last
    while begin < end:
        furthest = int(np.searchsorted(before, before[begin] + largest, side="right")) - 1
        cut = min(max(furthest, begin + 1), end)
        yield begin, cut
        begin = cut


def _levels(table: NgramTable, numbers: Integers, ends: tuple[int, int]) -> list[Level]:
    """What of a table begins with a range of all words; copied, so that the table itself can go."""
    whole = [(table.children[level], table.words[level], table.counts[level]) for level in table.levels]
    begin, end = np.searchsorted(numbers, ends)
    return [tuple(np.array(each, np.uint32) for each in level) for level in _run(whole, begin, end)]  # type: ignore[misc]


def _run(levels: Sequence[Any], begin: int, end: int) -> list[Any]:
    """Of each level what is below the nodes begin to end of the first: a run on each, as children follow parents."""
    found = []
    for children, words, counts in levels:
        found.append((children[begin:end], words[begin:end], counts[begin:end]))
        begin, end = (int(children[:place].sum(dtype=np.int64)) for place in (begin, end))
    return found


def _thinned(
    parts: Sequence[Sequence[Level]], numbers: Sequence[Integers], ends: tuple[int, int]
) -> list[list[NDArray[np.uint32]]]:
    """The sum of the runs that begin with a range of words, and of it what says something, level by level."""
    first, last = ends
    words = len(range(first, last))
    own, counts = [np.arange(first, last)], [np.zeros(words, np.int64)]
    places = []
    for part, number in zip(parts, numbers, strict=True):
        place = number[part[0][1]] - first
        counts[0][place] += part[0][2]
        places.append(place)
    children = []
    for depth in range(1, len(parts[0])):
        last_words = [number[part[depth][1]] for part, number in zip(parts, numbers, strict=True)]
        # Sorted by parent and then by word, as nodes must be.
        wide = max((int(each.max(initial=0)) for each in last_words), default=0) + 1
        keys = [
            np.repeat(place, part[depth - 1][0]) * wide + each
            for place, part, each in zip(places, parts, last_words, strict=True)
        ]
        distinct = np.unique(np.concatenate(keys))
        places = [np.searchsorted(distinct, each) for each in keys]
        counts.append(np.zeros(len(distinct), np.int64))
        for place, part in zip(places, parts, strict=True):
            # No table has a node twice.
            counts[depth][place] += part[depth][2]
        above, its_own = np.divmod(distinct, wide)
        children.append(np.bincount(above, minlength=len(own[-1])))
        own.append(its_own)
    children.append(np.zeros(len(own[-1]), np.int64))
    whole = [np.concatenate(each) for each in (children, own, counts)]
    says = ngrams_that_say(NgramTable(len(own), b"\n" * words, *whole))
    stored = [np.asarray(each, np.uint32) for each in (says.children, says.words, says.counts)]
    # Copied: these are the beginnings of arrays that have room for all.
    return [[each[level].copy() for each in stored] for level in says.levels]
