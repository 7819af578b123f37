"""A new campaign with the rules of another one: next year's. Submissions, scores and judgments are not taken along."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from sqlalchemy import insert, select

from analysis.leaderboard.board import position_of_metric
from campaigns.changes import lock_for_change
from campaigns.errors import BadRequest
from campaigns.fields.times import LATEST_YEAR
from campaigns.measures import add_protocols
from campaigns.participants import join_with_team
from campaigns.permissions import CampaignAccess, read_access
from campaigns.phases import rules_of
from campaigns.rules import Rules, campaign_metrics, create_campaign, set_rules
from campaigns.terms import read_terms, set_terms
from models.schema.campaigns import CampaignProtocol, CampaignTestSet, Phase, Quota
from models.schema.corpus import Protocol
from scheduler.ingest.campaigns import NewProtocol, store_protocols
from steelyard.metrics.registry import parse_metric
from steelyard.ranking.autorank import AUTORANK

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.accounts.principal import Principal
    from runtime.settings import Settings

WEEKS = timedelta(weeks=52)
"""A year in whole weeks: deadlines keep their days of the week."""
_OF_SUBMISSIONS = ("imported:", AUTORANK)
"""How metrics begin whose scores belong to the submissions of the old campaign."""


@dataclass(frozen=True, slots=True)
class CloneRequest:
    """What becomes of a clone."""

    name: str
    title: str | None = None
    """None for the title of the old one."""
    starts_at: float | None = None
    """When its first phase begins; None for the same time of a later year, on the same day of the week."""
    test_sets: bool = True
    """With the test sets and what is measured on them."""
    teams: bool = False
    """With the teams: invited, or added where the principal administrates."""


def clone_campaign(
    connection: Connection, settings: Settings, principal: Principal, old: str, request: CloneRequest
) -> None:
    """Create a campaign from another one, private until its organisers make it visible.

    Rules, phases, quotas for all teams, and terms come along, and test sets with unreleased references.

    Raises
    ------
    NotFound, NotSignedIn, Forbidden
        For others than organisers of the old one who may create campaigns.
    Conflict
        If there is a campaign of that name.
    BadRequest
        For an invalid name, and times beyond the calendar.
    """
    access = lock_for_change(connection, principal, old)
    # One without a title is called by its name, which is not that of the new one.
    title = None if access.title == access.name else access.title
    rules = Rules(
        title=title if request.title is None else request.title,
        description=access.description,
        time_zone=access.time_zone,
        joining=access.joining,
        anonymous=access.anonymous,
        verified_only=access.verified_only,
        embeddable=access.embeddable,
    )
    create_campaign(connection, principal, request.name, rules)
    made = lock_for_change(connection, principal, request.name)
    _clone_phases(connection, access, made, request.starts_at)
    made = read_access(connection, principal, request.name)
    _clone_quotas(connection, access, made)
    if (terms := read_terms(connection, access.campaign_id)) is not None:
        set_terms(connection, made, terms.text)
    if request.test_sets:
        _clone_test_sets(connection, settings, access, made)
    for team in access.teams if request.teams else ():
        join_with_team(connection, principal, request.name, team)
    principal.audit(
        connection, "campaign.clone", f"campaign {request.name}", campaign_id=made.campaign_id, **{"from": access.name}
    )


def _clone_phases(connection: Connection, old: CampaignAccess, new: CampaignAccess, starts_at: float | None) -> None:
    if not old.phases:
        return
    zone = ZoneInfo(old.time_zone)
    first = _local(min(each.starts_at for each in old.phases), zone)
    if starts_at is None:
        moved = WEEKS
        while (first + moved).replace(tzinfo=zone).timestamp() <= old.at:
            moved += WEEKS
    else:
        moved = _local(starts_at, zone) - first
    for phase in old.phases:
        rules = rules_of(phase)
        shifted = replace(
            rules,
            starts_at=_moved(rules.starts_at, moved, zone),
            ends_at=None if rules.ends_at is None else _moved(rules.ends_at, moved, zone),
        )
        # As they are: the old ones fit together, and a name may come from the command line.
        connection.execute(insert(Phase).values(campaign_id=new.campaign_id, **asdict(shifted)))


def _local(moment: float, zone: ZoneInfo) -> datetime:
    return datetime.fromtimestamp(moment, zone).replace(tzinfo=None)


def _moved(moment: float, by: timedelta, zone: ZoneInfo) -> float:
    """The same time of the day on another day, whatever daylight saving does between them."""
    try:
        local = _local(moment, zone) + by
    except OverflowError:
        local = datetime.max
    if not 1970 < local.year < LATEST_YEAR:
        raise BadRequest("The phases would lie beyond the calendar. Choose another start.")
    return local.replace(tzinfo=zone).timestamp()


def _clone_quotas(connection: Connection, old: CampaignAccess, new: CampaignAccess) -> None:
    """Copy the limits for all teams; those for one team were made for what it did."""
    rows = connection.execute(select(Quota).where(Quota.campaign_id == old.campaign_id, Quota.team == "")).all()
    for row in rows:
        values = {"phase": row.phase, "kind": row.kind, "amount": row.amount, "time_zone": row.time_zone}
        connection.execute(insert(Quota).values(campaign_id=new.campaign_id, team="", **values))


def _clone_test_sets(connection: Connection, settings: Settings, old: CampaignAccess, new: CampaignAccess) -> None:
    phases = {each.id: each.name for each in old.phases}
    new_phases = {each.name: each.id for each in new.phases}
    chosen = [each for each in old.test_sets.values() if each.replaced_by is None]
    for position, each in enumerate(chosen):
        phase = new_phases[phases[each.phase_id]] if each.phase_id is not None else None
        row = {"name": each.name, "version": each.version, "position": position, "phase_id": phase}
        connection.execute(insert(CampaignTestSet).values(campaign_id=new.campaign_id, test_set_id=each.id, **row))
    measured = connection.execute(
        select(Protocol)
        .join(CampaignProtocol, CampaignProtocol.protocol_id == Protocol.id)
        .where(
            CampaignProtocol.campaign_id == old.campaign_id,
            Protocol.test_set_id.in_([each.id for each in chosen]),
            Protocol.sweep.is_(False),
        )
        .order_by(Protocol.id)
    ).all()
    access = read_access(connection, new.principal, new.name)
    for protocol in measured:
        metrics = [parse_metric(metric) for metric in protocol.metrics if not metric.startswith(_OF_SUBMISSIONS)]
        if metrics:
            how = protocol.replicates, protocol.seed, protocol.resample
            kept = NewProtocol(list(protocol.reference_labels), metrics, *how)
            stored = store_protocols(connection, protocol.test_set_id, [kept])
            add_protocols(connection, settings, access, protocol.test_set_id, stored)
    known = campaign_metrics(connection, new.campaign_id)
    wanted = "" if old.ranked_by.startswith(_OF_SUBMISSIONS) else old.ranked_by
    if wanted and position_of_metric(known, wanted) is not None:
        set_rules(connection, access, Rules(ranked_by=wanted))
