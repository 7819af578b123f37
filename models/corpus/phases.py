"""The phases of a campaign, and the current one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from models.errors import UnreadableRow
from models.schema.base import database_time
from models.schema.campaigns import Campaign, Phase
from models.schema.column_types import known
from models.schema.roles import Feedback, LateRule, PhaseKind

TAKING = (PhaseKind.OPEN, PhaseKind.BLIND)
"""Kinds of phases in which teams can submit."""


@dataclass(frozen=True, slots=True)
class PhaseInfo:
    """A phase as stored."""

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
        """When submissions close: the deadline, or the end of the grace period."""
        if self.ends_at is None or self.late == LateRule.REFUSE:
            return self.ends_at
        return self.ends_at + self.grace_seconds

    def takes(self, at: float) -> bool:
        """Whether teams can submit at this time, given that the phase is current."""
        return self.kind in TAKING and (self.closes_at is None or at < self.closes_at)

    def standing(self, at: float) -> str:
        """Whether the phase is `ahead`, `now` or `past` at a time, given that no later one has begun."""
        if self.starts_at > at:
            return "ahead"
        return "now" if self.closes_at is None or at < self.closes_at else "past"

    def late_seconds(self, at: float) -> float:
        """Seconds from the deadline to this time; 0 before the deadline."""
        return 0.0 if self.ends_at is None else max(0.0, at - self.ends_at)


def next_phase(phases: Sequence[PhaseInfo], at: float) -> PhaseInfo | None:
    """The first phase that begins later; None if there is none."""
    return min((each for each in phases if each.starts_at > at), key=lambda each: each.starts_at, default=None)


def deadline_at(phases: Sequence[PhaseInfo], at: float) -> float | None:
    """The deadline of the current phase; None if it takes no submissions or has no end."""
    phase = phase_at(phases, at)
    if phase is None or phase.kind not in TAKING:
        return None
    following = next_phase(phases, phase.starts_at)
    # A phase without a deadline ends when the next one begins.
    return phase.ends_at if phase.ends_at is not None or following is None else following.starts_at


def read_phases(connection: Connection, campaign_id: int) -> list[PhaseInfo]:
    """The phases of a campaign, in order of their start."""
    return read_phases_of(connection, [campaign_id])[campaign_id]


def read_phases_of(
    connection: Connection, campaigns: Collection[int], unreadable: dict[int, UnreadableRow] | None = None
) -> dict[int, list[PhaseInfo]]:
    """The phases of each of these campaigns, in order of their start.

    Raises UnreadableRow; with `unreadable`, errors are collected there by campaign instead.
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
    """The current phase at a time: the one that began last; None before the first one."""
    begun = [each for each in phases if each.starts_at <= at]
    return max(begun, key=lambda each: each.starts_at, default=None)


def read_phase(connection: Connection, campaign_id: int) -> str:
    """The name of a campaign's current phase; "" without one.

    By the database's clock if the campaign has scheduled phases; otherwise the phase that its organisers set last.
    """
    phases = read_phases(connection, campaign_id)
    if not phases:
        return connection.execute(select(Campaign.phase).where(Campaign.id == campaign_id)).scalar_one()
    current = phase_at(phases, database_time(connection))
    return "" if current is None else current.name
