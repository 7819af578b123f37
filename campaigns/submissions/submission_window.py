"""Whether a team may hand in just now, said before it sends a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from campaigns.quotas.quotas import clock, read_standings, used_up
from campaigns.quotas.usage import Standing
from campaigns.submissions.admission import check_open
from campaigns.submissions.errors import PhaseClosed
from models.corpus.phases import read_phase

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.permissions import Sight
    from models.corpus.phases import KnownPhase


@dataclass(frozen=True, slots=True)
class Openness:
    """How things stand for one team."""

    team: str
    closed: str
    """Why nothing is taken at all; "" while something is."""
    phase: KnownPhase | None
    late_seconds: float
    """How long after the deadline it is, where something is taken all the same."""
    limits: tuple[Standing, ...]
    """How the team stands against those limits that there are."""
    full: tuple[str, ...]
    """Why a further output would be refused, and when there is room again."""


def read_openness(connection: Connection, sight: Sight, team: str) -> Openness:
    """Whether a team may hand in to a campaign just now; it is looked at again when it does."""
    phase, closed = sight.phase, ""
    if sight.frozen_at is not None:
        since = f"{clock(sight.frozen_at, sight.time_zone)} ({sight.time_zone})"
        closed = f"The campaign is frozen since {since}: nothing is handed in until its organisers let it go on."
    elif sight.phases:
        try:
            check_open(sight.phases, sight.at, sight.time_zone)
        except PhaseClosed as error:
            closed = str(error)
    if not closed and sight.verified_only and not sight.principal.verified:
        closed = "The campaign takes submissions only from accounts whose e-mail address is confirmed. Confirm yours."
    standings = read_standings(
        connection, sight.campaign_id, team, phase=_called(connection, sight, phase), at=sight.at
    )
    return Openness(
        team,
        closed,
        phase,
        phase.late_seconds(sight.at) if phase is not None and not closed else 0.0,
        tuple(each for each in standings if each.amount is not None),
        tuple(used_up(each, team) for each in standings if each.full),
    )


def _called(connection: Connection, sight: Sight, phase: KnownPhase | None) -> str:
    if sight.phases:
        return phase.name if phase is not None else ""
    return read_phase(connection, sight.campaign_id)
