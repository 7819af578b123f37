"""The same over and over: one line for many segments, or a decoder that went round in circles."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from campaigns.checks.finding import Finding, Severity, found
from metrics.kernels.words import words
from metrics.text.wording import number_of, ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from campaigns.checks.examined import Examined
    from metrics.kernels.words import Words

OFTEN = 5
"""Different segments with one and the same output."""
WORDS, CHARACTERS = 4, 12
"""Shorter lines may be right for many segments."""
LONGEST_CIRCLE = 6
"""Words that come again and again."""
ROUNDS = 6
"""How often in a row."""
MOST_GROUPS = 3
SHOWN = 60


def find_repetition(examined: Examined) -> list[Finding]:
    """Lines that many segments have, and lines that go round in circles."""
    return [*_same_lines(examined), *_circles(examined)]


def _same_lines(examined: Examined) -> list[Finding]:
    places: dict[str, list[int]] = defaultdict(list)
    for place, line in enumerate(examined.lines):
        if len(line) >= CHARACTERS and (line.count(" ") + 1 >= WORDS or not line.isascii()):
            places[line.strip()].append(place)
    beside = examined.meant
    groups = []
    for line, where in places.items():
        if len(where) < OFTEN or not line:
            continue
        # The segments themselves may be the same.
        different = len(where) if beside is None else len({beside[place].strip() for place in where})
        if different >= OFTEN:
            groups.append((line, where))
    if not groups:
        return []
    groups.sort(key=lambda group: -len(group[1]))
    told = "; ".join(f"\u201c{_shortened(line)}\u201d {len(where):,} times" for line, where in groups[:MOST_GROUPS])
    numbers = sorted(int(examined.numbers[place]) for _, where in groups for place in where)
    message = (
        f"{number_of(len(groups), 'line')} stand{'s' if len(groups) == 1 else ''} for many different segments "
        f"({told}). Look whether the system or a script has repeated itself."
    )
    return [found("repeated_lines", Severity.WARNING, message, numbers)]


def _circles(examined: Examined) -> list[Finding]:
    mine = _in_circles(examined.lines)
    if mine and examined.meant is not None:
        mine -= _in_circles(examined.meant)
    if not mine:
        return []
    numbers = [int(examined.numbers[place]) for place in sorted(mine)]
    message = (
        f"{number_of(len(numbers), 'segment')} ({ranges(numbers)}) repeat{'s' if len(numbers) == 1 else ''} the same "
        "words over and over, as decoders do that do not find their end."
    )
    severity = Severity.WARNING if len(numbers) > 0.01 * len(examined.lines) else Severity.NOTE
    return [found("loops", severity, message, numbers)]


def _in_circles(lines: Sequence[str]) -> set[int]:
    """Positions of lines in which up to six words come six times in a row."""
    found_words = words("\n".join(lines).encode(), len(lines))
    ids, rows = found_words.ids, np.repeat(np.arange(len(lines)), found_words.lengths)
    circling: set[int] = set()
    for length in range(1, LONGEST_CIRCLE + 1):
        again = (ids[length:] == ids[:-length]) & (rows[length:] == rows[:-length])
        wanted = length * (ROUNDS - 1)
        sums = np.concatenate([[0], np.cumsum(again)])
        if len(sums) <= wanted:
            continue
        whole = np.flatnonzero(sums[wanted:] - sums[:-wanted] == wanted)
        if len(whole):
            # A row of dots or dashes is no text.
            letters = np.concatenate([[0], np.cumsum(_with_letters(found_words)[ids])])
            whole = whole[letters[whole + length] > letters[whole]]
            circling.update(rows[whole].tolist())
    return circling


def _with_letters(found_words: Words) -> NDArray[np.bool_]:
    """(types,): whether a word has a letter in it."""
    return np.array([any(map(str.isalpha, each)) for each in found_words.lines.decode().split("\n")], np.bool_)


def _shortened(line: str) -> str:
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "\u2026"
