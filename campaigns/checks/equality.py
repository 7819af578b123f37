"""What organisers alone are told about an output: that it is a reference, or the output of another team."""

from __future__ import annotations

from typing import TYPE_CHECKING

from campaigns.checks.finding import Finding, Severity
from metrics.text.wording import listed

if TYPE_CHECKING:
    from models.results.equal_outputs import Equals

ADVICE = "Leave it out of correlations and charts: it is no result of a system."


def find_equals(equals: Equals) -> list[Finding]:
    """Findings that are made when an organiser looks, and never stored: the team reads what is."""
    findings = []
    if equals.references:
        called = f"reference{'s' if len(equals.references) > 1 else ''} {' and '.join(equals.references)}"
        message = f"The output is the same to the byte as {called}. {ADVICE}"
        findings.append(Finding("same_as_reference", Severity.WARNING, message))
    if equals.outputs:
        names = listed([f"{each.name} (submission {each.submission})" for each in equals.outputs])
        message = f"The output is the same to the byte as that of {names}. Ask the teams which one is theirs."
        findings.append(Finding("same_output", Severity.WARNING, message))
    return findings
