"""Founding a campaign, and its rules."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from analysis.leaderboard.board import position_of_metric
from campaigns.accounts.principal import COMMAND_LINE, Principal
from campaigns.changes import changed
from campaigns.errors import BadRequest, Forbidden, Taken
from campaigns.permissions import Sight
from campaigns.short_text import short_text
from campaigns.times import check_zone
from metrics.registry import parse_metric
from metrics.text.names import MAX_NAME_LENGTH, fault_of_name, folded
from models.database.upsert import insert_new
from models.schema.base import now
from models.schema.campaigns import Campaign, CampaignMember, CampaignProtocol
from models.schema.corpus import Protocol
from models.schema.roles import CampaignRole, Joining, Scope, Visibility

LONGEST_TITLE = 200
LONGEST_DESCRIPTION = 20_000
LONGEST_METRIC = 500


@dataclass(frozen=True, slots=True)
class Rules:
    """What organisers say of a campaign; None leaves it as it is."""

    title: str | None = None
    description: str | None = None
    time_zone: str | None = None
    visibility: Visibility | None = None
    joining: Joining | None = None
    anonymous: bool | None = None
    verified_only: bool | None = None
    ranked_by: str | None = None


def found_campaign(connection: Connection, principal: Principal, name: str, rules: Rules) -> int:
    """A new campaign, of which the account is the organiser; its id.

    Raises NotSignedIn and Forbidden, BadRequest for a name that cannot be one, Taken, and UnknownMetric and
    BadParameter for a metric to rank by that there is not.
    """
    if principal is not COMMAND_LINE:
        principal.require(Scope.ORGANISE)
        if not principal.may_found_campaigns:
            raise Forbidden("Only organisers set up campaigns. An administrator can make you one.")
    name = short_text(name, "The name", MAX_NAME_LENGTH)
    if fault := fault_of_name(name):
        raise BadRequest(f"{name[:50]!r} cannot be the name of a campaign: {fault}.")
    campaign_id = insert_new(connection, Campaign, {"name": name, "folded_name": folded(name)})
    if campaign_id is None:
        raise Taken(f"There is a campaign that is called {name!r}, or nearly so. Choose another name.")
    if principal.account_id is not None:
        row = {"campaign_id": campaign_id, "account_id": principal.account_id, "role": CampaignRole.ORGANISER}
        connection.execute(insert(CampaignMember).values(**row))
    values = _checked(rules, ())
    if values:
        connection.execute(update(Campaign).where(Campaign.id == campaign_id).values(**values))
    principal.audit(connection, "campaign.found", f"campaign {name}", campaign_id=campaign_id, **values)
    return campaign_id


def set_rules(connection: Connection, sight: Sight, rules: Rules) -> None:
    """Change the rules of a campaign (`campaigns.changes.to_change`). Raises BadRequest and BadSchedule."""
    values = _checked(rules, _metrics(connection, sight.campaign_id))
    before = connection.execute(select(Campaign).where(Campaign.id == sight.campaign_id)).one()._asdict()
    changes = changed(before, values)
    if changes:
        connection.execute(update(Campaign).where(Campaign.id == sight.campaign_id).values(**values))
        _audit(connection, sight, "campaign.rules", **changes)


def set_frozen(connection: Connection, sight: Sight, frozen: bool) -> None:
    """Let nothing be handed in, declared or withdrawn from now on, or let it again."""
    if frozen != (sight.frozen_at is not None):
        value = now() if frozen else None
        connection.execute(update(Campaign).where(Campaign.id == sight.campaign_id).values(frozen_at=value))
        _audit(connection, sight, "campaign.freeze" if frozen else "campaign.unfreeze")


def _audit(connection: Connection, sight: Sight, action: str, **details: Any) -> None:
    subject = f"campaign {sight.name}"
    sight.principal.audit(connection, action, subject, campaign_id=sight.campaign_id, **details)


def _checked(rules: Rules, metrics: tuple[str, ...]) -> dict[str, Any]:
    values = {name: value for name, value in asdict(rules).items() if value is not None}
    for name, most in (("title", LONGEST_TITLE), ("description", LONGEST_DESCRIPTION)):
        if name in values:
            values[name] = short_text(values[name], f"The {name}", most, lines=name == "description")
    if "time_zone" in values:
        check_zone(values["time_zone"])
    if wanted := values.get("ranked_by"):
        if len(wanted) > LONGEST_METRIC:
            raise BadRequest(f"The metric to rank by has {len(wanted):,} characters; {LONGEST_METRIC} are allowed.")
        # Before it has a test set, what it will measure is not known: any metric that there is may be meant.
        place = position_of_metric(metrics, wanted) if metrics else None
        if metrics and place is None:
            there = f"There are: {', '.join(metrics)}."
            raise BadRequest(f"The campaign has no metric {wanted[:100]!r} to rank by. {there}")
        if place is None:
            parse_metric(wanted)
        else:
            values["ranked_by"] = metrics[place]
    return values


def _metrics(connection: Connection, campaign_id: int) -> tuple[str, ...]:
    """All metrics of a campaign, each once."""
    rows = connection.scalars(
        select(Protocol.metrics)
        .join(CampaignProtocol, CampaignProtocol.protocol_id == Protocol.id)
        .where(CampaignProtocol.campaign_id == campaign_id)
        .order_by(Protocol.id)
    )
    return tuple(dict.fromkeys(metric for metrics in rows for metric in metrics))
