"""Findings only for organisers: the output is identical to a reference, or to that of another team."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.checks.finding import Finding, Severity
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from models.results.equal_outputs import Equals

ADVICE = "Exclude it from correlations and charts: it is not the output of a system."


def find_equals(equals: Equals) -> list[Finding]:
    """Return findings that are made when an organiser looks, and never stored: the team reads stored ones."""
    findings = []
    if equals.references:
        names = f"reference{'s' if len(equals.references) > 1 else ''} {' and '.join(equals.references)}"
        message = f"The output is byte-identical to {names}. {ADVICE}"
        findings.append(Finding("same_as_reference", Severity.WARNING, message))
    if equals.outputs:
        names = listed([f"{each.name} (submission {each.submission})" for each in equals.outputs])
        message = f"The output is byte-identical to that of {names}. Ask the teams which one is theirs."
        findings.append(Finding("same_output", Severity.WARNING, message))
    return findings


def told_once(equals: Mapping[int, Equals]) -> dict[int, Equals]:
    """The same, by submission, with equal outputs named by the first of them alone."""
    named: set[int] = set()
    found = {}
    for submission, each in equals.items():
        found[submission] = replace(each, outputs=()) if submission in named else each
        named.update(output.submission for output in each.outputs)
    return found
