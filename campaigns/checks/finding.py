"""What a finding is, and how it is stored."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

KEPT = 20
"""Segments that a finding names."""


class Severity(StrEnum):
    """How bad a finding is."""

    FATAL = "fatal"
    """It cannot be scored, and nothing is stored."""
    WARNING = "warning"
    """Something went wrong, as far as a program can tell."""
    NOTE = "note"
    """Odd, and often meant."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was noticed about an output."""

    code: str
    """What programs go by; `docs/diagnosis.md` has all of them."""
    severity: Severity
    message: str
    """What was found, where, and what to do: sentences for people."""
    segments: tuple[int, ...] = ()
    """The first segments that it is about, counted from 1."""
    count: int = 0
    """How many segments it is about; 0 where it is about the whole."""

    def as_row(self) -> dict[str, Any]:
        """As it is stored in `Diagnosis.findings`, and sent as JSON."""
        return {
            "code": self.code,
            "severity": str(self.severity),
            "message": self.message,
            "segments": list(self.segments),
            "count": self.count,
        }

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Finding:
        """The finding that `as_row` wrote."""
        return cls(row["code"], Severity(row["severity"]), row["message"], tuple(row["segments"]), row["count"])


def found(code: str, severity: Severity, message: str, numbers: Iterable[int]) -> Finding:
    """A finding about the segments with these numbers, counted from 1."""
    every = [int(number) for number in numbers]
    return Finding(code, severity, message, tuple(every[:KEPT]), len(every))


def is_fatal(findings: Sequence[Finding]) -> bool:
    """Whether one of them stands in the way of scoring."""
    return any(each.severity is Severity.FATAL for each in findings)
