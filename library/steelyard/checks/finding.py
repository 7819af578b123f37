"""A finding of the checks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
    """For programs; `docs/reference/checks.md` lists all of them."""
    severity: Severity
    message: str
    """What was found, where, and what to do: sentences for people."""
    segments: tuple[int, ...] = ()
    """The first affected segments, from 1."""
    count: int = 0
    """How many segments are affected; 0 if it is about the whole output."""

    def as_row(self) -> dict[str, Any]:
        """The finding as JSON sends it.

        Returns
        -------
        dict
        """
        return {
            "code": self.code,
            "severity": str(self.severity),
            "message": self.message,
            "segments": list(self.segments),
            "count": self.count,
        }


def make_finding(code: str, severity: Severity, message: str, numbers: Iterable[int]) -> Finding:
    """A finding about segments.

    Parameters
    ----------
    code : str
    severity : Severity
    message : str
    numbers : iterable of int
        Of the segments, from 1; all are counted and the first ones kept.

    Returns
    -------
    Finding
    """
    every = [int(number) for number in numbers]
    return Finding(code, severity, message, tuple(every[:KEPT]), len(every))


def is_fatal(findings: Sequence[Finding]) -> bool:
    """Whether one of the findings prevents scoring.

    Parameters
    ----------
    findings : sequence of Finding

    Returns
    -------
    bool
    """
    return any(each.severity is Severity.FATAL for each in findings)
