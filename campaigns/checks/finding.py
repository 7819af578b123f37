"""A finding of the checks, and its stored form."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from models.errors import UnreadableRow
from models.schema.column_types import stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

KEPT = 20
"""Segments that a finding lists."""


class Severity(StrEnum):
    """The severity of a finding."""

    FATAL = "fatal"
    """The output cannot be scored; nothing is stored."""
    WARNING = "warning"
    """Probably an error."""
    NOTE = "note"
    """Unusual, and often intended."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding about an output."""

    code: str
    """For programs; `docs/reference/diagnosis.md` lists all of them."""
    severity: Severity
    message: str
    """What was found, where, and what to do: sentences for people."""
    segments: tuple[int, ...] = ()
    """The first affected segments, from 1."""
    count: int = 0
    """How many segments are affected; 0 if it is about the whole output."""

    def as_row(self) -> dict[str, Any]:
        """Return it as stored in `Diagnosis.findings`, and sent as JSON."""
        return {
            "code": self.code,
            "severity": str(self.severity),
            "message": self.message,
            "segments": list(self.segments),
            "count": self.count,
        }

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Finding:
        """Create a finding from what `as_row` returned."""
        with stored("What was noticed about this output"):
            return cls(row["code"], Severity(row["severity"]), row["message"], tuple(row["segments"]), row["count"])


def findings_of(rows: Iterable[Mapping[str, Any]]) -> tuple[Finding, ...]:
    """Return the findings of a submission; if they cannot be read, one that says so."""
    try:
        return tuple(map(Finding.of_row, rows))
    except UnreadableRow as error:
        return (Finding("unreadable", Severity.WARNING, str(error)),)


def make_finding(code: str, severity: Severity, message: str, numbers: Iterable[int]) -> Finding:
    """Create a finding about the segments with these numbers, from 1."""
    every = [int(number) for number in numbers]
    return Finding(code, severity, message, tuple(every[:KEPT]), len(every))


def is_fatal(findings: Sequence[Finding]) -> bool:
    """Return whether one of them prevents scoring."""
    return any(each.severity is Severity.FATAL for each in findings)
