"""Checks for missing translations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.checks.finding import Finding, Severity, make_finding
from steelyard.text.wording import number_of, ranges

if TYPE_CHECKING:
    from steelyard.checks.examined import AlignedOutput


def find_gaps(examined: AlignedOutput) -> list[Finding]:
    """Find empty lines where the source or reference is not empty.

    Parameters
    ----------
    examined : AlignedOutput

    Returns
    -------
    list of Finding
    """
    empty = [place for place, line in enumerate(examined.lines) if not line.strip()]
    meant = examined.meant
    if meant is not None:
        empty = [place for place in empty if meant[place].strip()]
    if not empty:
        return []
    numbers = [int(examined.numbers[place]) for place in empty]
    message = (
        f"{number_of(len(numbers), 'segment')} of the output {'is' if len(numbers) == 1 else 'are'} empty: "
        f"{ranges(numbers)}. Each counts as a translation without words. Check whether translations were lost."
    )
    return [make_finding("empty", Severity.WARNING, message, numbers)]
