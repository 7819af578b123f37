"""Which phases a campaign has, and in which one it is now."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from models.errors import UnreadableRow
from models.schema.base import now
from models.schema.campaigns import Campaign, Phase
from models.schema.column_types import known
from models.schema.roles import Feedback, LateRule, PhaseKind

TAKING = (PhaseKind.OPEN, PhaseKind.BLIND)
"""Kinds of phases in which teams hand in."""


@dataclass(frozen=True, slots=True)
class PhaseInfo:
    """A phase as it is stored."""

    id: int
    name: str
    kind: PhaseKind
    starts_at: float
    ends_at: float | None
    late: LateRule
    grace_seconds: float
    feedback: Feedback
    feedback_step: float

    @property
    def closes_at(self) -> float | None:
        """From when on nothing is taken in any more: the deadline, or the end of the grace."""
        if self.ends_at is None or self.late == LateRule.REFUSE:
            return self.ends_at
        return self.ends_at + self.grace_seconds

    def takes(self, at: float) -> bool:
        """Whether teams can hand in at this moment, provided that it is in this phase."""
        return self.kind in TAKING and (self.closes_at is None or at < self.closes_at)

    def standing(self, at: float) -> str:
        """Whether it is `ahead`, `now` or `past` at a moment, provided that no other has begun since."""
        if self.starts_at > at:
            return "ahead"
        return "now" if self.closes_at is None or at < self.closes_at else "past"

    def late_seconds(self, at: float) -> float:
        """How long after the deadline a moment is; 0 before it."""
        return 0.0 if self.ends_at is None else max(0.0, at - self.ends_at)


def read_phases(connection: Connection, campaign_id: int) -> list[PhaseInfo]:
    """The phases of a campaign by their start."""
    return read_phases_of(connection, [campaign_id])[campaign_id]


def read_phases_of(
    connection: Connection, campaigns: Collection[int], unreadable: dict[int, UnreadableRow] | None = None
) -> dict[int, list[PhaseInfo]]:
    """The phases of each of these campaigns by their start.

    Raises UnreadableRow, or with `unreadable` keeps what is wrong there, by campaign, and goes on with the others.
    """
    found: dict[int, list[PhaseInfo]] = {campaign: [] for campaign in campaigns}
    for row in connection.execute(select(Phase).where(Phase.campaign_id.in_(campaigns)).order_by(Phase.starts_at)):
        try:
            found[row.campaign_id].append(_known_phase(row))
        except UnreadableRow as error:
            if unreadable is None:
                raise
            unreadable[row.campaign_id] = error
    return found


def _known_phase(row: Any) -> PhaseInfo:
    of_phase = f"of the phase {row.name!r}"
    return PhaseInfo(
        row.id,
        row.name,
        known(row.kind, f"The kind {of_phase}"),
        row.starts_at,
        row.ends_at,
        known(row.late, f"The rule for what is late {of_phase}"),
        row.grace_seconds,
        known(row.feedback, f"The feedback {of_phase}"),
        row.feedback_step,
    )


def phase_at(phases: Sequence[PhaseInfo], at: float) -> PhaseInfo | None:
    """The phase that holds at a moment: that which began last; None before the first."""
    begun = [each for each in phases if each.starts_at <= at]
    return max(begun, key=lambda each: each.starts_at, default=None)


def read_phase(connection: Connection, campaign_id: int) -> str:
    """The name of the phase in which a campaign is now; "" where it has none.

    By the database's clock where the campaign has phases with times, else what its organisers said last.
    """
    phases = read_phases(connection, campaign_id)
    if not phases:
        return connection.execute(select(Campaign.phase).where(Campaign.id == campaign_id)).scalar_one()
    current = phase_at(phases, float(connection.execute(select(now())).scalar_one()))
    return "" if current is None else current.name
