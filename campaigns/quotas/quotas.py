"""Quotas of teams: how much is used, when the next submission is possible, and setting them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, delete, select, update

from campaigns.quotas.errors import BadQuota, QuotaUsedUp
from campaigns.quotas.ledger import Entry, read_entries
from campaigns.quotas.rules import KnownQuota, Scope, list_quotas, of_scope, quotas_of
from campaigns.quotas.usage import Day, Standing
from metrics.text.wording import listed, number_of
from models.corpus.campaign_protocols import find_campaign
from models.corpus.phases import read_phase, read_phases
from models.database.upsert import insert_if_absent
from models.errors import NotFound
from models.schema.accounts import Team
from models.schema.base import now
from models.schema.campaigns import Campaign, Participation, Quota, QuotaAccount
from models.schema.states import QuotaKind
from scheduler.nightly.cron import Calendar

LONGEST = 100
"""Characters of the name of a team or a phase."""


def day_of(moment: float, time_zone: str) -> Day:
    """The calendar day of a moment, from its first moment to that of the next, also where clocks are changed."""
    zone = ZoneInfo(time_zone)
    today = datetime.fromtimestamp(moment, zone).date()
    # A midnight that the clocks leave out is reckoned as before the change, which is the first moment of the day.
    begin, end = (datetime.combine(each, time(), zone).timestamp() for each in (today, today + timedelta(days=1)))
    return Day(today, time_zone, begin, end)


def read_standings(connection: Connection, campaign_id: int, team: str, *, phase: str, at: float) -> list[Standing]:
    """How a team stands in a campaign at a moment, one for each kind of quota.

    Whoever decides by it must hold the team's account (`campaigns.quotas.ledger.lock_account`).
    """
    return standings_of(connection, campaign_id, team, read_entries(connection, campaign_id, team), phase=phase, at=at)


def standings_of(
    connection: Connection, campaign_id: int, team: str, entries: Sequence[Entry], *, phase: str, at: float
) -> list[Standing]:
    """The same, where its entries in the ledger are known."""
    quotas = quotas_of(connection, campaign_id, team, phase)
    return [_standing(kind, quotas, entries, phase, at) for kind in QuotaKind]


def _standing(
    kind: QuotaKind, quotas: Mapping[QuotaKind, KnownQuota], entries: Sequence[Entry], phase: str, at: float
) -> Standing:
    quota = quotas.get(kind)
    day = day_of(at, quota.time_zone if quota else "UTC")

    def counts(entry: Entry) -> bool:
        if kind == QuotaKind.IN_FLIGHT:
            return entry.open
        if entry.given_back_at is not None:
            return False
        return entry.phase == phase if kind == QuotaKind.PER_PHASE else day.begin <= entry.created_at < day.end

    counted = tuple(each.submission_id for each in entries if counts(each))
    return Standing(kind, quota.amount if quota else None, len(counted), counted, quota, phase, day)


def check_quotas(standings: Sequence[Standing], team: str, *, new: bool) -> None:
    """Raise QuotaUsedUp where a further submission of a team is not possible.

    What is not `new` but queued again needs room only among those in flight.
    """
    full = [each for each in standings if each.full and (new or each.kind == QuotaKind.IN_FLIGHT)]
    if full:
        # All of them: whoever waits for one must know of the other.
        raise QuotaUsedUp(" ".join(used_up(each, team) for each in full), full)


def used_up(standing: Standing, team: str) -> str:
    """What was found, and when there is room again."""
    if not standing.amount:
        return f"Team {team} may not submit: its quota {standing.of_what} is 0."
    whose = f"Team {team} has used {standing.used} of {number_of(standing.amount, 'submission')} {standing.of_what}"
    if standing.kind == QuotaKind.IN_FLIGHT:
        which = f"number{'s' if standing.used > 1 else ''} {listed([str(each) for each in standing.submissions])}"
        return f"{whose} ({which}); the next is possible when one of them has ended."
    if standing.kind == QuotaKind.PER_DAY:
        return f"{whose}; the next is possible from {clock(standing.day.end, standing.day.time_zone)}."
    return f"{whose}; the next is possible in another phase."


def clock(moment: float, time_zone: str) -> str:
    """A moment as clocks show it: 2026-11-23 00:00."""
    return datetime.fromtimestamp(moment, ZoneInfo(time_zone)).strftime("%Y-%m-%d %H:%M")


@dataclass(frozen=True, slots=True)
class Account:
    """How a team stands in a campaign."""

    campaign: str
    phase: str
    standings: tuple[Standing, ...]
    given_back: tuple[Entry, ...]
    """Attempts that do not count."""


def read_accounts(connection: Connection, team: str, campaign: str | None = None) -> list[Account]:
    """How a team stands in a campaign, or in every one in which it has submitted or has quotas of its own.

    Raises NotFound with the teams there are.
    """
    at = read_clock(connection)
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
        entries = read_entries(connection, campaign_id, team)
        standings = standings_of(connection, campaign_id, team, entries, phase=phase, at=at)
        given_back = tuple(each for each in entries if each.given_back_at is not None)
        found.append(Account(name, phase, tuple(standings), given_back))
    return found


def set_quotas(
    connection: Connection, scope: Scope, amounts: Mapping[QuotaKind, int | None], time_zone: str | None = None
) -> None:
    """Set limits for a scope; None means that there is none, whatever less specific quotas say.

    Without a time zone, days are those of the quota that held so far, else those of UTC. Raises BadQuota, also for a
    phase or a team that the campaign does not have, and BadSchedule for a time zone that is none.
    """
    if time_zone is None:
        before = quotas_of(connection, scope.campaign_id, scope.team, scope.phase).get(QuotaKind.PER_DAY)
        time_zone = before.time_zone if before else "UTC"
    _check(scope, amounts, time_zone)
    _check_known(connection, scope)
    for kind, amount in amounts.items():
        values = {"amount": amount, "time_zone": time_zone if kind == QuotaKind.PER_DAY else "UTC"}
        row = {"campaign_id": scope.campaign_id, "team": scope.team, "phase": scope.phase, "kind": kind, **values}
        insert_if_absent(connection, Quota, [row])
        connection.execute(update(Quota).where(*of_scope(scope), Quota.kind == kind).values(**values))


def remove_quotas(connection: Connection, scope: Scope, kinds: Sequence[QuotaKind] = ()) -> list[KnownQuota]:
    """Remove the quotas of exactly this scope, all or those of some kinds; which they were. Raises NotFound."""
    which = [*of_scope(scope), Quota.kind.in_(kinds or list(QuotaKind))]
    found = list_quotas(connection, *which)
    if not found:
        raise NotFound("There is no such quota. `steelyard quota list` shows those there are.")
    connection.execute(delete(Quota).where(*which))
    return found


def set_phase(connection: Connection, campaign: str, phase: str) -> int:
    """Let a campaign be in a phase from now on, or in none (""); its id. Raises NotFound and BadQuota."""
    campaign_id = find_campaign(connection, campaign)
    _check_name(phase, "phase")
    if read_phases(connection, campaign_id):
        raise BadQuota(
            f"The campaign {campaign!r} has phases with times, and is in the one of now. `steelyard campaign phase` "
            "changes them."
        )
    connection.execute(update(Campaign).where(Campaign.id == campaign_id).values(phase=phase))
    return campaign_id


def read_clock(connection: Connection) -> float:
    """The time on the database's clock."""
    return float(connection.execute(select(now())).scalar_one())


def _check(scope: Scope, amounts: Mapping[QuotaKind, int | None], time_zone: str) -> None:
    if not amounts:
        raise BadQuota("A quota needs a limit: in flight, per day or per phase.")
    if scope.campaign_id is None and (scope.team or scope.phase):
        raise BadQuota("Quotas for a team or a phase are those of a campaign: name the campaign, too.")
    _check_name(scope.team, "team")
    _check_name(scope.phase, "phase")
    for amount in amounts.values():
        if amount is not None and not 0 <= amount < 2**31:
            raise BadQuota(f"A quota cannot be {amount:,}. Give 0 or more.")
    # Only its time zone is looked at.
    Calendar("0 0 * * *", time_zone)


def _check_known(connection: Connection, scope: Scope) -> None:
    """Raise BadQuota for a phase or a team whose quota would limit nothing.

    A campaign whose phases have no times is in whatever phase its organisers say next, and one to which no team was
    added takes in any team: there, any name may come to mean something.
    """
    if scope.campaign_id is None:
        return
    phases = [phase.name for phase in read_phases(connection, scope.campaign_id)]
    if phases and scope.phase and scope.phase not in phases:
        raise BadQuota(f"The campaign has no phase {scope.phase!r}. There are: {', '.join(phases)}.")
    teams = campaign_teams(connection, scope.campaign_id)
    if teams and scope.team and scope.team not in teams:
        raise BadQuota(f"The campaign has no team {scope.team!r}. There are: {', '.join(teams)}.")


def campaign_teams(connection: Connection, campaign_id: int) -> list[str]:
    """Names of the teams that take part in a campaign or have submitted to it; none where no team was ever added."""
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
    if len(name) > LONGEST or "\0" in name:
        raise BadQuota(f"{name[:50]!r} cannot be the name of a {what}: give 1 to {LONGEST} characters.")
