"""Checks for repetitions: one line for many segments, or a decoder that loops."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from steelyard.checks.finding import Finding, Severity, make_finding
from steelyard.kernels.text.words import words
from steelyard.text.wording import number_of, ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steelyard.checks.examined import AlignedOutput
    from steelyard.kernels.text.words import Words

OFTEN = 5
"""Different segments with the same output."""
WORDS, CHARACTERS = 4, 12
"""Minimum length; shorter lines may be right for many segments."""
MAX_LOOP_WORDS = 6
"""Length of a repeated sequence, in words."""
MIN_REPEATS = 6
"""Consecutive repetitions of a sequence."""
MAX_GROUPS = 3
SHOWN = 60


def find_repetition(examined: AlignedOutput) -> list[Finding]:
    """Find lines that many segments share, and lines with loops.

    Parameters
    ----------
    examined : AlignedOutput

    Returns
    -------
    list of Finding
    """
    return [*_same_lines(examined), *_loops(examined)]


def _same_lines(examined: AlignedOutput) -> list[Finding]:
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
    told = "; ".join(f"\u201c{_shortened(line)}\u201d {len(where):,} times" for line, where in groups[:MAX_GROUPS])
    numbers = sorted(int(examined.numbers[place]) for _, where in groups for place in where)
    message = (
        f"{number_of(len(groups), 'line')} {'is' if len(groups) == 1 else 'are'} the output for many different "
        f"segments ({told}). Check the system and the scripts around it."
    )
    return [make_finding("repeated_lines", Severity.WARNING, message, numbers)]


def _loops(examined: AlignedOutput) -> list[Finding]:
    mine = _looping_lines(examined.lines)
    if mine and examined.meant is not None:
        mine -= _looping_lines(examined.meant)
    if not mine:
        return []
    numbers = [int(examined.numbers[place]) for place in sorted(mine)]
    message = (
        f"{number_of(len(numbers), 'segment')} ({ranges(numbers)}) repeat{'s' if len(numbers) == 1 else ''} the same "
        "words over and over, as in a decoder loop."
    )
    severity = Severity.WARNING if len(numbers) > 0.01 * len(examined.lines) else Severity.NOTE
    return [make_finding("loops", severity, message, numbers)]


def _looping_lines(lines: Sequence[str]) -> set[int]:
    """Return positions of lines with a sequence of up to six words six times in a row."""
    found_words = words("\n".join(lines).encode(), len(lines))
    ids, rows = found_words.ids, np.repeat(np.arange(len(lines)), found_words.lengths)
    looping: set[int] = set()
    for length in range(1, MAX_LOOP_WORDS + 1):
        again = (ids[length:] == ids[:-length]) & (rows[length:] == rows[:-length])
        wanted = length * (MIN_REPEATS - 1)
        sums = np.concatenate([[0], np.cumsum(again)])
        if len(sums) <= wanted:
            continue
        whole = np.flatnonzero(sums[wanted:] - sums[:-wanted] == wanted)
        if len(whole):
            # A row of dots or dashes is not a loop.
            letters = np.concatenate([[0], np.cumsum(_with_letters(found_words)[ids])])
            whole = whole[letters[whole + length] > letters[whole]]
            looping.update(rows[whole].tolist())
    return looping


def _with_letters(found_words: Words) -> NDArray[np.bool_]:
    """Return whether each distinct word has a letter, (types,)."""
    return np.array([any(map(str.isalpha, each)) for each in found_words.lines.decode().split("\n")], np.bool_)


def _shortened(line: str) -> str:
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "\u2026"
