"""Segments without a translation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from campaigns.checks.finding import Finding, Severity, found
from metrics.text.wording import number_of, ranges

if TYPE_CHECKING:
    from campaigns.checks.examined import Examined


def find_gaps(examined: Examined) -> list[Finding]:
    """Empty lines where there is something to translate."""
    empty = [place for place, line in enumerate(examined.lines) if not line.strip()]
    meant = examined.meant
    if meant is not None:
        empty = [place for place in empty if meant[place].strip()]
    if not empty:
        return []
    numbers = [int(examined.numbers[place]) for place in empty]
    message = (
        f"{number_of(len(numbers), 'segment')} of the output {'is' if len(numbers) == 1 else 'are'} empty: "
        f"{ranges(numbers)}. Each counts as a translation without words. Translate them, if they were lost on the way."
    )
    return [found("empty", Severity.WARNING, message, numbers)]
