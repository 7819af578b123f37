"""Word by word, what a hypothesis shares with a reference: for people who look at segments."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 1_000
"""Words of a text that are compared; what stands behind them is not marked."""
_PARTS = r"(?sV1)\s+|\p{Han}|\p{Hiragana}|\p{Katakana}|[[\p{L}\p{M}\p{N}_]--\p{Han}--\p{Hiragana}--\p{Katakana}]+|."


class Mark(StrEnum):
    """What became of a run of words."""

    SAME = "same"
    """In both, in the same order."""
    MOVED = "moved"
    """In both, elsewhere."""
    ALONE = "alone"
    """Only here."""
    UNMARKED = "unmarked"
    """Not compared."""


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive words of one kind, with the white space between and behind them."""

    text: str
    mark: Mark


@dataclass(frozen=True, slots=True)
class Marked:
    """Two texts side by side; the runs of each put together are the text."""

    hypothesis: tuple[Run, ...]
    reference: tuple[Run, ...]
    chosen: int
    """Which of the references was compared: the one that shares most words in the same order."""


def compare(hypothesis: str, references: Sequence[str]) -> Marked:
    """Mark a hypothesis against the closest of its references.

    Words are runs of letters and digits, single characters of Chinese and Japanese script, or single other characters;
    case counts. Those of a longest common subsequence are the same. Of the rest, a word that the other text has too,
    and that is not paired yet, has moved. The closest reference has the greatest 2 x common words / words of both; the
    first of equals.

    Parameters
    ----------
    hypothesis : str
    references : sequence of str
        At least one.

    Returns
    -------
    Marked
    """
    parts, others = _parts(hypothesis), [_parts(reference) for reference in references]
    here = _words(parts)
    closest, found, best = 0, _Common([], []), -1.0
    for number, other in enumerate(others):
        there = _words(other)
        common = _common(here, there)
        share = 2 * len(common.first) / max(len(here) + len(there), 1)
        if share > best:
            closest, found, best = number, common, share
    moved_here, moved_there = _moved(here, _words(others[closest]), found)
    return Marked(
        _runs(parts, set(found.first), moved_here),
        _runs(others[closest], set(found.second), moved_there),
        closest,
    )


@dataclass(frozen=True, slots=True)
class _Common:
    """Positions of the words of a longest common subsequence in both texts."""

    first: list[int]
    second: list[int]


def _parts(text: str) -> list[str]:
    """Words and the white space between them."""
    found: list[str] = _pattern().findall(text)
    return found


@cache
def _pattern() -> Any:
    import regex  # type: ignore[import-untyped]

    # A letter that is put together from several characters is one only with its marks: Python's \w leaves them out.
    return regex.compile(_PARTS)


def _words(parts: Sequence[str]) -> list[str]:
    return [part for part in parts if not part.isspace()][:LONGEST]


def _common(one: Sequence[str], other: Sequence[str]) -> _Common:
    """The longest common subsequence; of several the one whose words come first in `one`, then in `other`."""
    rows = _unchanged(one, other)
    found = _Common([], [])
    row, column = 0, 0
    while row < len(one) and column < len(other):
        if one[row] == other[column]:
            found.first.append(row)
            found.second.append(column)
            row, column = row + 1, column + 1
        elif rows[row] >> len(other) - 1 - column & 1:
            column += 1
        else:
            row += 1
    return found


def _unchanged(one: Sequence[str], other: Sequence[str]) -> list[int]:
    """For each word of `one` a bit for each of `other`, the last word's first.

    It is set where that word of `other` makes the longest common subsequence of what follows, in both texts, no longer.
    """
    at: dict[str, int] = {}
    for bit, word in enumerate(reversed(other)):
        at[word] = at.get(word, 0) | 1 << bit
    # Hyyrö, "Bit-parallel LCS-length computation revisited" (2004): a row of the table in a few operations.
    every = (1 << len(other)) - 1
    row, rows = every, []
    for word in reversed(one):
        equal = row & at.get(word, 0)
        row = (row + equal | row - equal) & every
        rows.append(row)
    rows.reverse()
    return rows


def _moved(one: Sequence[str], other: Sequence[str], common: _Common) -> tuple[set[int], set[int]]:
    """Positions of words that both texts have beside the common ones, as often as both have them."""
    rest = [
        [position for position in range(len(words)) if position not in paired]
        for words, paired in ((one, set(common.first)), (other, set(common.second)))
    ]
    left = Counter(one[position] for position in rest[0]) & Counter(other[position] for position in rest[1])
    moved = []
    for words, positions in ((one, rest[0]), (other, rest[1])):
        room, here = left.copy(), set()
        for position in positions:
            if room[words[position]]:
                room[words[position]] -= 1
                here.add(position)
        moved.append(here)
    return moved[0], moved[1]


def _runs(parts: Sequence[str], same: set[int], moved: set[int]) -> tuple[Run, ...]:
    runs: list[tuple[Mark, list[str]]] = []
    position = 0
    for part in parts:
        if part.isspace():
            mark = runs[-1][0] if runs else Mark.UNMARKED
        else:
            mark = Mark.SAME if position in same else Mark.MOVED if position in moved else Mark.ALONE
            mark = Mark.UNMARKED if position >= LONGEST else mark
            position += 1
        if runs and runs[-1][0] is mark:
            runs[-1][1].append(part)
        else:
            runs.append((mark, [part]))
    return tuple(Run("".join(texts), mark) for mark, texts in runs)
