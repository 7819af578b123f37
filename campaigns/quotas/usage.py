"""How much of its quotas a team has used."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from campaigns.quotas.rules import QuotaInfo
from models.schema.states import QuotaKind


@dataclass(frozen=True, slots=True)
class Day:
    """A calendar day in a time zone."""

    date: date
    time_zone: str
    begin: float
    end: float
    """The start of the next day."""


@dataclass(frozen=True, slots=True)
class QuotaUsage:
    """How much of one kind of quota a team has used in a campaign."""

    kind: QuotaKind
    amount: int | None
    """The limit; None if there is none."""
    used: int
    submissions: tuple[int, ...]
    """Those that count."""
    quota: QuotaInfo | None
    """The quota that sets the limit."""
    phase: str
    day: Day

    @property
    def full(self) -> bool:
        """Whether no further submission is possible now."""
        return self.amount is not None and self.used >= self.amount

    @property
    def of_what(self) -> str:
        """Which submissions are counted: in flight, of a day, of a phase."""
        if self.kind == QuotaKind.IN_FLIGHT:
            return "in flight"
        if self.kind == QuotaKind.PER_DAY:
            return f"of {self.day.date.day} {self.day.date:%B %Y} ({self.day.time_zone})"
        return f'of the phase "{self.phase}"' if self.phase else "of the campaign"

    @property
    def free_at(self) -> float | None:
        """When the next submission is possible, if the calendar decides that."""
        return self.day.end if self.kind == QuotaKind.PER_DAY and self.full and self.amount else None
