"""Whether each line is where it belongs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from campaigns.checks.examined import MOST_BYTES, MOST_SEGMENTS, examine
from campaigns.checks.matching import match_output
from campaigns.checks.order import find_disorder
from campaigns.checks.shifts import find_runs, find_shifts, told_runs

if TYPE_CHECKING:
    from campaigns.checks.examined import Examined
    from campaigns.checks.finding import Finding
    from campaigns.checks.standard import Standard
    from metrics.text.plain import Utf8

FEWEST = 8
"""Segments below which nothing can be told."""
WHOLE = ("reordered", "other_text")
"""Findings that are about all lines."""


def find_misplaced(examined: Examined) -> list[Finding]:
    """Shifts, other orders, other texts."""
    if len(examined.lines) < FEWEST:
        return []
    matching = match_output(examined)
    if matching is None:
        return []
    runs = find_runs(matching)
    disorder = find_disorder(examined, matching, runs)
    # In a text in another order, or of another test set, some lines happen to fit a few places further on.
    if any(each.code in WHOLE for each in disorder):
        return disorder
    return [*find_shifts(examined, runs), *disorder]


def find_breaks(output: Utf8, standard: Standard) -> str:
    """Where lines of an output that has too few or too many are missing, or too many: sentences, or nothing."""
    if max(output.count(b"\n") + 1, standard.segments) > MOST_SEGMENTS or len(output) > MOST_BYTES:
        return ""
    examined = examine(output, standard)
    matching = match_output(examined)
    if matching is None or len(examined.lines) < FEWEST:
        return ""
    return " ".join(told_runs(examined, find_runs(matching)))
