"""What one check of an installation found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from runtime.redaction import redacted


class Level(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    WARNING = "warning"
    """It works, and will fail under load, after a restart or for somebody."""
    PROBLEM = "problem"
    """It does not work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check."""

    check: str
    level: Level
    found: str
    fix: str = ""
    """What to do about it; empty where nothing is to be done."""

    @classmethod
    def ok(cls, check: str, found: str) -> Self:
        """Nothing is to be done."""
        return cls(check, Level.OK, redacted(found))

    @classmethod
    def warning(cls, check: str, found: str, fix: str) -> Self:
        """It works, but should be changed."""
        return cls(check, Level.WARNING, redacted(found), fix)

    @classmethod
    def problem(cls, check: str, found: str, fix: str) -> Self:
        """It does not work."""
        return cls(check, Level.PROBLEM, redacted(found), fix)
