"""Checks for outputs and segments that are much longer or shorter than expected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.checks.finding import Finding, Severity, make_finding
from steelyard.checks.matching import lengths_of
from steelyard.text.wording import ranges

if TYPE_CHECKING:
    from steelyard.checks.examined import AlignedOutput

SHORT, LONG = 0.6, 1.6
"""Relative to the characters of the references. Real systems have between 0.9 and 1.1."""
SHORTEST, LONGEST = 0.15, 8.0
"""Relative to those of the source: languages differ by a factor of four."""
ODD = 4.0
"""Factor by which a line is longer or shorter than expected from its segment and the output's median."""
FEWEST = 20
"""Characters of the longer one: short segments vary."""
ENOUGH = 10
"""Minimum number of segments for a median."""


def find_odd_lengths(examined: AlignedOutput) -> list[Finding]:
    """Check the length of the whole output, and of each segment.

    Parameters
    ----------
    examined : AlignedOutput

    Returns
    -------
    list of Finding
    """
    beside = examined.references or ([examined.sources] if examined.sources is not None else [])
    if not beside or len(examined.lines) < ENOUGH:
        return []
    mine, theirs = lengths_of(examined.lines), lengths_of(*beside)
    if not mine.sum() or not theirs.sum():
        return []
    ratio = mine.sum() / theirs.sum()
    return [*_whole(examined, float(ratio)), *_single(examined, mine, theirs)]


def _whole(examined: AlignedOutput, ratio: float) -> list[Finding]:
    low, high = (SHORT, LONG) if examined.references else (SHORTEST, LONGEST)
    if low <= ratio <= high:
        return []
    than = "references" if examined.references else "source"
    how = "much shorter" if ratio < low else "much longer"
    message = (
        f"The output is {how} than the {than}: {ratio:.2f} times as many characters. Was it cut off, or is something "
        "else in it?"
    )
    return [Finding("length", Severity.WARNING, message)]


def _single(examined: AlignedOutput, mine: np.ndarray, theirs: np.ndarray) -> list[Finding]:
    both = (mine > 0) & (theirs > 0)
    if both.sum() < ENOUGH:
        return []
    ratios = np.log((mine + FEWEST / 4) / (theirs + FEWEST / 4))
    usual = float(np.median(ratios[both]))
    odd = both & (np.abs(ratios - usual) > np.log(ODD)) & (np.maximum(mine, theirs * np.exp(usual)) >= FEWEST)
    numbers = [int(number) for number in examined.numbers[odd]]
    if not numbers:
        return []
    message = (
        f"{len(numbers):,} segment{'' if len(numbers) == 1 else 's'} ({ranges(numbers)}) "
        f"{'is' if len(numbers) == 1 else 'are'} more than {ODD:.0f} times longer or shorter than the "
        f"{'references' if examined.references else 'source'} suggests. Check whether text was lost, or added."
    )
    severity = Severity.WARNING if len(numbers) > 0.02 * len(examined.lines) else Severity.NOTE
    return [make_finding("odd_lengths", severity, message, numbers)]
