"""Checks for outputs that exist already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.checks.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.checks.context import OtherOutput
    from steelyard.formats.plain import Utf8

NEARLY_EQUAL = 0.99
"""Share of equal lines from which two outputs are nearly the same."""
FEWEST = 20
"""Minimum number of segments: good systems may produce the same few lines."""


def find_twins(output: Utf8, others: Sequence[OtherOutput]) -> list[Finding]:
    """Find other outputs with the same, or nearly the same, lines.

    Parameters
    ----------
    output : bytes
        UTF-8 lines joined by newlines.
    others : sequence of OtherOutput

    Returns
    -------
    list of Finding
    """
    lines, findings = output.split(b"\n"), []
    for other in others:
        theirs = other.text.split(b"\n")
        alike = count_equal_lines(lines, theirs)
        if alike == len(lines):
            message = f"The output is byte-identical to {other.called}. Is it the right file?"
            findings.append(Finding("same_output", Severity.WARNING, message, count=alike))
        elif len(lines) >= FEWEST and alike >= NEARLY_EQUAL * len(lines):
            message = (
                f"The output is nearly the same as {other.called}: {alike:,} of {len(lines):,} segments are equal. "
                "Is it the right file?"
            )
            severity = Severity.NOTE if other.own else Severity.WARNING
            findings.append(Finding("nearly_same_output", severity, message, count=alike))
    return findings


def count_equal_lines(one: Sequence[Utf8], other: Sequence[Utf8]) -> int:
    """Count equal lines of two texts.

    Parameters
    ----------
    one, other : sequence of bytes
        Of the same number of lines.

    Returns
    -------
    int
    """
    return sum(mine == theirs for mine, theirs in zip(one, other, strict=False))
