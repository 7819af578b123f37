"""Whether a team may submit now, to be shown before it sends a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from campaigns.quotas.quotas import quota_message, read_quota_usage
from campaigns.quotas.usage import QuotaUsage
from campaigns.submissions.admission import check_open
from campaigns.submissions.errors import PhaseClosed
from campaigns.terms import TermsNotAccepted, require_accepted
from models.corpus.phases import read_phase
from steelyard.tables.formatting import date_time

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.permissions import CampaignAccess
    from models.corpus.phases import PhaseInfo


@dataclass(frozen=True, slots=True)
class SubmissionWindow:
    """Whether one team may submit now."""

    team: str
    closed: str
    """Why no submissions are accepted; "" if they are."""
    phase: PhaseInfo | None
    late_seconds: float
    """How late a submission would be now, if late ones are accepted."""
    limits: tuple[QuotaUsage, ...]
    """Usage of the quotas that are limited."""
    full: tuple[str, ...]
    """Why another submission would be rejected, and when one is possible again."""
    unaccepted: bool = False
    """Whether the team must accept the terms first."""


def read_submission_window(connection: Connection, access: CampaignAccess, team: str) -> SubmissionWindow:
    """Return whether a team may submit to a campaign now. Submitting checks it again."""
    phase, closed, unaccepted = access.phase, "", False
    if access.frozen_at is not None:
        since = date_time(access.frozen_at, access.time_zone)
        closed = f"The campaign was frozen on {since}: submissions are closed until its organisers unfreeze it."
    elif access.phases:
        try:
            check_open(access.phases, access.at, access.time_zone)
        except PhaseClosed as error:
            closed = str(error)
    if not closed and access.verified_only and not access.principal.verified:
        closed = "The campaign accepts submissions only from accounts with a confirmed e-mail address. Confirm yours."
    if not closed:
        try:
            require_accepted(connection, access.campaign_id, team)
        except TermsNotAccepted as error:
            closed, unaccepted = str(error), True
    usage = read_quota_usage(
        connection, access.campaign_id, team, phase=_phase_name(connection, access, phase), at=access.at
    )
    return SubmissionWindow(
        team,
        closed,
        phase,
        phase.late_seconds(access.at) if phase is not None and not closed else 0.0,
        tuple(each for each in usage if each.amount is not None),
        tuple(quota_message(each, team) for each in usage if each.full),
        unaccepted,
    )


def _phase_name(connection: Connection, access: CampaignAccess, phase: PhaseInfo | None) -> str:
    if access.phases:
        return phase.name if phase is not None else ""
    return read_phase(connection, access.campaign_id)
