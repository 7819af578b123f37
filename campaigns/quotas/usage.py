"""How a team stands against its quotas."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from campaigns.quotas.rules import KnownQuota
from models.schema.states import QuotaKind


@dataclass(frozen=True, slots=True)
class Day:
    """A calendar day in a time zone."""

    date: date
    time_zone: str
    begin: float
    end: float
    """The first moment of the next day."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a team stands against one kind of quota in a campaign."""

    kind: QuotaKind
    amount: int | None
    """The limit; None where there is none."""
    used: int
    submissions: tuple[int, ...]
    """Those that are counted."""
    quota: KnownQuota | None
    """The one that says so."""
    phase: str
    day: Day

    @property
    def full(self) -> bool:
        """Whether no further submission is possible now."""
        return self.amount is not None and self.used >= self.amount

    @property
    def of_what(self) -> str:
        """Which submissions it is about: in flight, of a day, of a phase."""
        if self.kind == QuotaKind.IN_FLIGHT:
            return "in flight"
        if self.kind == QuotaKind.PER_DAY:
            return f"of {self.day.date} ({self.day.time_zone})"
        return f'of the phase "{self.phase}"' if self.phase else "of the campaign"

    @property
    def free_at(self) -> float | None:
        """When there is room again, where the calendar says it."""
        return self.day.end if self.kind == QuotaKind.PER_DAY and self.full and self.amount else None
