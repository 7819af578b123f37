"""Findings as the table `submission_findings` keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from models.errors import UnreadableRow
from models.schema.column_types import stored
from steelyard.checks.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def finding_of(row: Mapping[str, Any]) -> Finding:
    """Create a finding from what `Finding.as_row` returned."""
    with stored("The findings on this output"):
        return Finding(row["code"], Severity(row["severity"]), row["message"], tuple(row["segments"]), row["count"])


def findings_of(rows: Iterable[Mapping[str, Any]]) -> tuple[Finding, ...]:
    """Return the findings of a submission; if they cannot be read, one that says so."""
    try:
        return tuple(map(finding_of, rows))
    except UnreadableRow as error:
        return (Finding("unreadable", Severity.WARNING, str(error)),)
