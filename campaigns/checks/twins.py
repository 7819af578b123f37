"""Outputs that are somebody's already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from campaigns.checks.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from campaigns.checks.standard import OtherOutput
    from metrics.text.plain import Utf8

MOST_ALIKE = 0.99
"""Share of equal lines from which on two outputs are nearly the same."""
FEWEST = 20
"""Segments below which good systems may well write nearly the same."""


def find_twins(output: Utf8, others: Sequence[OtherOutput]) -> list[Finding]:
    """Other outputs with the very same lines, or nearly."""
    lines, findings = output.split(b"\n"), []
    for other in others:
        theirs = other.text.split(b"\n")
        alike = alike_lines(lines, theirs)
        if alike == len(lines):
            message = f"The output is the same to the byte as {other.called}. Is it the right file?"
            findings.append(Finding("same_output", Severity.WARNING, message, count=alike))
        elif len(lines) >= FEWEST and alike >= MOST_ALIKE * len(lines):
            message = (
                f"The output is nearly the same as {other.called}: {alike:,} of {len(lines):,} segments are equal. "
                "Is it the right file?"
            )
            severity = Severity.NOTE if other.own else Severity.WARNING
            findings.append(Finding("nearly_same_output", severity, message, count=alike))
    return findings


def alike_lines(one: Sequence[Utf8], other: Sequence[Utf8]) -> int:
    """How many lines of two texts with equally many are equal."""
    return sum(mine == theirs for mine, theirs in zip(one, other, strict=False))
