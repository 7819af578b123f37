"""Checks whether each line is at its segment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.checks.examined import MAX_BYTES, MAX_SEGMENTS, align_output
from steelyard.checks.matching import match_output
from steelyard.checks.order import find_disorder
from steelyard.checks.shifts import describe_runs, find_runs, find_shifts

if TYPE_CHECKING:
    from steelyard.checks.context import CheckContext
    from steelyard.checks.examined import AlignedOutput
    from steelyard.checks.finding import Finding
    from steelyard.formats.plain import Utf8

FEWEST = 8
"""Minimum number of segments."""
WHOLE = ("reordered", "other_text")
"""Codes of findings about all lines."""


def find_misplaced(examined: AlignedOutput) -> list[Finding]:
    """Find shifted lines, other orders and other texts.

    Parameters
    ----------
    examined : AlignedOutput

    Returns
    -------
    list of Finding
    """
    if len(examined.lines) < FEWEST:
        return []
    matching = match_output(examined)
    if matching is None:
        return []
    runs = find_runs(matching)
    disorder = find_disorder(examined, matching, runs)
    # In a reordered text, or one of another test set, some lines fit a nearby segment by chance.
    if any(each.code in WHOLE for each in disorder):
        return disorder
    return [*find_shifts(examined, runs), *disorder]


def find_breaks(output: Utf8, standard: CheckContext) -> str:
    """Describe where lines of an output with a wrong number of lines are missing or superfluous.

    Parameters
    ----------
    output : bytes
        UTF-8 lines joined by newlines.
    standard : CheckContext

    Returns
    -------
    str
        Sentences; empty where nothing can be said.
    """
    if max(output.count(b"\n") + 1, standard.segments) > MAX_SEGMENTS or len(output) > MAX_BYTES:
        return ""
    examined = align_output(output, standard)
    matching = match_output(examined)
    if matching is None or len(examined.lines) < FEWEST:
        return ""
    return " ".join(describe_runs(examined, find_runs(matching)))
