"""Quotas of teams: usage, when the next submission is possible, and setting them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, delete, select, update

from campaigns.quotas.errors import BadQuota, QuotaUsedUp
from campaigns.quotas.rules import QuotaInfo, QuotaScope, list_quotas, quotas_of, scope_conditions
from campaigns.quotas.usage import Day, QuotaUsage
from campaigns.quotas.usage_log import UsageEntry, read_usage_entries
from models.corpus.campaign_protocols import find_campaign
from models.corpus.phases import read_phase, read_phases
from models.database.upsert import insert_ignore
from models.errors import NotFound
from models.schema.accounts import Team
from models.schema.base import database_time
from models.schema.campaigns import Campaign, Participation, Quota, QuotaAccount
from models.schema.column_types import stored
from models.schema.states import QuotaKind
from scheduler.nightly.cron import Calendar
from steelyard.tables.formatting import date_time
from steelyard.text.wording import listed, number_of

MAX_NAME_LENGTH = 100
"""Characters of the name of a team or a phase."""


def day_of(moment: float, time_zone: str) -> Day:
    """Return the calendar day of a time in seconds since 1970, also across changes of daylight saving."""
    with stored("The time zone of a quota"):
        zone = ZoneInfo(time_zone)
    today = datetime.fromtimestamp(moment, zone).date()
    # A midnight skipped by daylight saving gets the offset before the change, which is the start of the day.
    begin, end = (datetime.combine(each, time(), zone).timestamp() for each in (today, today + timedelta(days=1)))
    return Day(today, time_zone, begin, end)


def read_quota_usage(connection: Connection, campaign_id: int, team: str, *, phase: str, at: float) -> list[QuotaUsage]:
    """Return a team's quota usage in a campaign at a time, one for each kind of quota.

    To decide by it, hold the team's account (`campaigns.quotas.usage_log.lock_quota_account`).
    """
    return quota_usage_of(
        connection, campaign_id, team, read_usage_entries(connection, campaign_id, team), phase=phase, at=at
    )


def quota_usage_of(
    connection: Connection, campaign_id: int, team: str, entries: Sequence[UsageEntry], *, phase: str, at: float
) -> list[QuotaUsage]:
    """As `read_quota_usage`, for entries of the usage log that were read already."""
    quotas = quotas_of(connection, campaign_id, team, phase)
    return [_usage_of_kind(kind, quotas, entries, phase, at) for kind in QuotaKind]


def _usage_of_kind(
    kind: QuotaKind, quotas: Mapping[QuotaKind, QuotaInfo], entries: Sequence[UsageEntry], phase: str, at: float
) -> QuotaUsage:
    quota = quotas.get(kind)
    day = day_of(at, quota.time_zone if quota else "UTC")

    def counts(entry: UsageEntry) -> bool:
        if kind == QuotaKind.IN_FLIGHT:
            return entry.open
        if entry.given_back_at is not None:
            return False
        return entry.phase == phase if kind == QuotaKind.PER_PHASE else day.begin <= entry.created_at < day.end

    counted = tuple(each.submission_id for each in entries if counts(each))
    return QuotaUsage(kind, quota.amount if quota else None, len(counted), counted, quota, phase, day)


def check_quotas(usage: Sequence[QuotaUsage], team: str, *, new: bool) -> None:
    """Raise QuotaUsedUp if a team cannot make another submission.

    A submission that is not `new` but queued again counts only against the quota in flight.
    """
    full = [each for each in usage if each.full and (new or each.kind == QuotaKind.IN_FLIGHT)]
    if full:
        # All of them: waiting for one is useless if another is exhausted, too.
        raise QuotaUsedUp(" ".join(quota_message(each, team) for each in full), full)


def quota_message(usage: QuotaUsage, team: str) -> str:
    """Return what is used up, and when the next submission is possible."""
    if not usage.amount:
        return f"Team {team} may not submit: its quota {usage.of_what} is 0."
    whose = f"Team {team} has used {usage.used} of {number_of(usage.amount, 'submission')} {usage.of_what}"
    if usage.kind == QuotaKind.IN_FLIGHT:
        which = f"number{'s' if usage.used > 1 else ''} {listed([str(each) for each in usage.submissions])}"
        return f"{whose} ({which}); the next is possible when one of them has ended."
    if usage.kind == QuotaKind.PER_DAY:
        return f"{whose}; the next is possible from {date_time(usage.day.end, usage.day.time_zone)}."
    return f"{whose}; the next is possible in another phase."


@dataclass(frozen=True, slots=True)
class TeamQuotas:
    """A team's quota usage in a campaign."""

    campaign: str
    phase: str
    usage: tuple[QuotaUsage, ...]
    given_back: tuple[UsageEntry, ...]
    """Submissions that do not count."""


def read_team_quotas(connection: Connection, team: str, campaign: str | None = None) -> list[TeamQuotas]:
    """Return a team's quota usage in a campaign, or in each in which it has submitted or has quotas of its own.

    Raises
    ------
    NotFound
        If it does not exist; the message lists the existing teams.
    """
    at = database_time(connection)
    if campaign is not None:
        chosen = [(find_campaign(connection, campaign), campaign)]
    else:
        accounts = select(QuotaAccount.campaign_id).where(QuotaAccount.team == team)
        quotas = select(Quota.campaign_id).where(Quota.team == team, Quota.campaign_id.is_not(None))
        rows = connection.execute(
            select(Campaign.id, Campaign.name)
            .where(Campaign.id.in_(accounts) | Campaign.id.in_(quotas))
            .order_by(Campaign.name)
        )
        chosen = [(row.id, row.name) for row in rows]
    if not chosen:
        teams = set(connection.scalars(select(QuotaAccount.team))) | set(
            connection.scalars(select(Quota.team).where(Quota.team != ""))
        )
        known = f"There are: {', '.join(sorted(teams))}." if teams else "None has so far."
        raise NotFound(f'No team "{team}" has submitted anything or has quotas of its own. {known}')
    found = []
    for campaign_id, name in chosen:
        phase = read_phase(connection, campaign_id)
        entries = read_usage_entries(connection, campaign_id, team)
        usage = quota_usage_of(connection, campaign_id, team, entries, phase=phase, at=at)
        given_back = tuple(each for each in entries if each.given_back_at is not None)
        found.append(TeamQuotas(name, phase, tuple(usage), given_back))
    return found


def set_quotas(
    connection: Connection, scope: QuotaScope, amounts: Mapping[QuotaKind, int | None], time_zone: str | None = None
) -> None:
    """Set limits for a scope; None means unlimited, whatever less specific quotas say.

    Without a time zone, days are those of the quota that applied so far, else UTC.

    Raises
    ------
    BadQuota
        If a limit is invalid, or the campaign does not have the phase or the team.
    BadSchedule
        For an unknown time zone.
    """
    if time_zone is None:
        before = quotas_of(connection, scope.campaign_id, scope.team, scope.phase).get(QuotaKind.PER_DAY)
        time_zone = before.time_zone if before else "UTC"
    _check(scope, amounts, time_zone)
    if scope.campaign_id is not None:
        check_known_phase(connection, scope.campaign_id, scope.phase)
        check_known_team(connection, scope.campaign_id, scope.team)
    for kind, amount in amounts.items():
        values = {"amount": amount, "time_zone": time_zone if kind == QuotaKind.PER_DAY else "UTC"}
        row = {"campaign_id": scope.campaign_id, "team": scope.team, "phase": scope.phase, "kind": kind, **values}
        insert_ignore(connection, Quota, [row])
        connection.execute(update(Quota).where(*scope_conditions(scope), Quota.kind == kind).values(**values))


def remove_quotas(connection: Connection, scope: QuotaScope, kinds: Sequence[QuotaKind] = ()) -> list[QuotaInfo]:
    """Remove the quotas of exactly this scope, all or of some kinds; returns them.

    Raises
    ------
    NotFound
        If it does not exist.
    """
    which = [*scope_conditions(scope), Quota.kind.in_(kinds or list(QuotaKind))]
    found = list_quotas(connection, *which)
    if not found:
        raise NotFound("There is no such quota. `steelyard quota list` shows all quotas.")
    connection.execute(delete(Quota).where(*which))
    return found


def set_phase(connection: Connection, campaign: str, phase: str) -> int:
    """Let a campaign be in a phase from now on, or in none (""); its id.

    Raises
    ------
    NotFound
        If it does not exist.
    BadQuota
        If a limit is invalid.
    """
    campaign_id = find_campaign(connection, campaign)
    _check_name(phase, "phase")
    if read_phases(connection, campaign_id):
        raise BadQuota(
            f"The campaign {campaign!r} has phases with times, which decide the current one. "
            "`steelyard phase create` changes them."
        )
    connection.execute(update(Campaign).where(Campaign.id == campaign_id).values(phase=phase))
    return campaign_id


def _check(scope: QuotaScope, amounts: Mapping[QuotaKind, int | None], time_zone: str) -> None:
    if not amounts:
        raise BadQuota("A quota needs a limit: in flight, per day or per phase.")
    if scope.campaign_id is None and (scope.team or scope.phase):
        raise BadQuota("Quotas for a team or a phase belong to a campaign: give the campaign, too.")
    _check_name(scope.team, "team")
    _check_name(scope.phase, "phase")
    for amount in amounts.values():
        if amount is not None and not 0 <= amount < 2**31:
            raise BadQuota(f"A quota cannot be {amount:,}. Give 0 or more.")
    # Only the time zone matters here.
    Calendar("0 0 * * *", time_zone)


def check_known_phase(connection: Connection, campaign_id: int, phase: str) -> None:
    """Raise BadQuota for a phase whose quota would have no effect.

    If the phases of a campaign have no times, its organisers may enter any phase next: then any name is allowed.
    """
    phases = [each.name for each in read_phases(connection, campaign_id)]
    if phases and phase and phase not in phases:
        raise BadQuota(f"The campaign has no phase {phase!r}. There are: {', '.join(phases)}.")


def check_known_team(connection: Connection, campaign_id: int, team: str) -> None:
    """Raise BadQuota for a team whose quota would have no effect; without teams, any team may submit."""
    teams = campaign_teams(connection, campaign_id)
    if teams and team and team not in teams:
        raise BadQuota(f"The campaign has no team {team!r}. There are: {', '.join(teams)}.")


def campaign_teams(connection: Connection, campaign_id: int) -> list[str]:
    """Return the teams that take part in a campaign or have submitted to it; none if no team was ever added."""
    added = connection.scalars(
        select(Team.name)
        .join(Participation, Participation.team_id == Team.id)
        .where(Participation.campaign_id == campaign_id)
    ).all()
    if not added:
        return []
    submitted = connection.scalars(select(QuotaAccount.team).where(QuotaAccount.campaign_id == campaign_id))
    return sorted({*added, *submitted})


def _check_name(name: str, what: str) -> None:
    if len(name) > MAX_NAME_LENGTH or "\0" in name:
        raise BadQuota(f"{name[:50]!r} cannot be the name of a {what}: give 1 to {MAX_NAME_LENGTH} characters.")
