"""Whether a campaign accepts a submission: its phases and deadlines, the phase of its test set, its participants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, exists, select

from campaigns.submissions.errors import NotTakingPart, PhaseClosed
from campaigns.terms import require_accepted
from models.corpus.phases import TAKING, PhaseInfo, phase_at, read_phases
from models.corpus.test_sets import StoredTestSet
from models.schema.accounts import Account, Team
from models.schema.base import database_time
from models.schema.campaigns import Campaign, CampaignTestSet, Participation
from steelyard.tables.formatting import date_time

MAX_TRANSIT_SECONDS = 60.0
"""Seconds for which a request may be processed and still be judged by its time of arrival."""


@dataclass(frozen=True, slots=True)
class Admission:
    """What the rules of a campaign say about an accepted submission."""

    phase: str
    """The phase that it counts for."""
    late_seconds: float
    """How long after the deadline it came."""


def admit(
    connection: Connection,
    campaign_id: int,
    test_set: StoredTestSet,
    team: str,
    *,
    account_id: int | None = None,
    arrived_at: float | None = None,
    enforce_rules: bool = True,
) -> Admission:
    """Admit a submission by the rules of its campaign, now or at its time of arrival.

    The caller holds the campaign (`lock_campaign_shared`), so that its rules cannot change in between. Without
    `enforce_rules`, for organisers, it is admitted at any time, and still marked if late.

    Raises
    ------
    PhaseClosed
        If the phase is not open.
    NotTakingPart
        If the team does not take part.
    TermsNotAccepted
        If it has not accepted the terms.
    """
    rules = connection.execute(
        select(Campaign.phase, Campaign.time_zone, Campaign.frozen_at, Campaign.verified_only).where(
            Campaign.id == campaign_id
        )
    ).one()
    at = database_time(connection)
    if arrived_at is not None and at - MAX_TRANSIT_SECONDS <= arrived_at <= at:
        at = arrived_at
    phases = read_phases(connection, campaign_id)
    phase = phase_at(phases, at)
    if enforce_rules:
        if rules.frozen_at is not None:
            since = date_time(rules.frozen_at, rules.time_zone)
            raise PhaseClosed(
                f"The campaign was frozen on {since}: submissions are closed until its organisers unfreeze it.",
                closed_at=rules.frozen_at,
                time_zone=rules.time_zone,
            )
        _check_taking_part(connection, campaign_id, team)
        require_accepted(connection, campaign_id, team)
        if rules.verified_only:
            _check_verified(connection, account_id)
        if phases:
            own = connection.scalar(
                select(CampaignTestSet.phase_id).where(
                    CampaignTestSet.campaign_id == campaign_id, CampaignTestSet.test_set_id == test_set.id
                )
            )
            check_open(phases, at, rules.time_zone, own, test_set.title)
    if not phases:
        return Admission(rules.phase, 0.0)
    if phase is None:
        return Admission("", 0.0)
    return Admission(phase.name, phase.late_seconds(at) if phase.kind in TAKING else 0.0)


def check_open(
    phases: Sequence[PhaseInfo], at: float, time_zone: str, only_phase: int | None = None, test_set: str = ""
) -> PhaseInfo:
    """Return the phase that accepts submissions at a time; `only_phase` is the one to which a test set is bound.

    Raises
    ------
    PhaseClosed
        If the phase is not open; the message says when it was or will be.
    """
    phase = phase_at(phases, at)
    fitting = [each for each in phases if each.kind in TAKING and only_phase in (None, each.id)]
    if phase is not None and phase in fitting and phase.takes(at):
        return phase
    coming = min((each for each in fitting if each.starts_at > at), key=lambda each: each.starts_at, default=None)
    gone = max((each for each in fitting if each.starts_at <= at), key=lambda each: each.starts_at, default=None)
    what = f"Outputs for the test set {test_set} are" if only_phase is not None and test_set else "Submissions are"
    now = f"It is {date_time(at, time_zone)}"
    closed_at = None
    if gone is not None:
        following = min((each.starts_at for each in phases if each.starts_at > gone.starts_at), default=None)
        ends = [each for each in (gone.closes_at, following) if each is not None and each <= at]
        closed_at = min(ends, default=None)
    if coming is not None:
        said = f'from {date_time(coming.starts_at, time_zone)} on, when the phase "{coming.name}" begins'
        raise PhaseClosed(
            f"{what} accepted {said}. {now}.", opens_at=coming.starts_at, closed_at=closed_at, time_zone=time_zone
        )
    if gone is not None and closed_at is not None:
        raise PhaseClosed(
            f'{what} no longer accepted: the phase "{gone.name}" was closed at '
            f"{date_time(closed_at, time_zone)}. {now}.",
            closed_at=closed_at,
            time_zone=time_zone,
        )
    raise PhaseClosed(f"{what} not accepted in any phase of the campaign. Ask its organisers.", time_zone=time_zone)


def _check_taking_part(connection: Connection, campaign_id: int, team: str) -> None:
    of_campaign = exists().where(Participation.campaign_id == campaign_id)
    of_team = of_campaign.where(Participation.team_id == Team.id, Team.name == team)
    any_team, this_team = connection.execute(select(of_campaign, of_team)).one()
    # A campaign created by the command line has no list of teams: any team takes part.
    if any_team and not this_team:
        raise NotTakingPart(
            f'The team "{team}" does not participate in the campaign. Join first, or ask the organisers to invite it.'
        )


def _check_verified(connection: Connection, account_id: int | None) -> None:
    if account_id is None:
        return
    verified = connection.scalar(select(Account.verified_at).where(Account.id == account_id))
    if verified is None:
        raise NotTakingPart(
            "The campaign accepts submissions only from accounts with a confirmed e-mail address. Confirm yours first."
        )
