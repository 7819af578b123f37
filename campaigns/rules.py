"""Creating a campaign, and its rules."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from analysis.leaderboard.board import position_of_metric
from campaigns.accounts.principal import COMMAND_LINE, Principal
from campaigns.changes import changed_fields
from campaigns.errors import BadRequest, Conflict, Forbidden
from campaigns.fields.short_text import short_text
from campaigns.fields.times import check_zone
from campaigns.permissions import CampaignAccess
from models.database.upsert import insert_new
from models.schema.base import now
from models.schema.campaigns import Campaign, CampaignMember, CampaignProtocol
from models.schema.corpus import Protocol
from models.schema.human import Judgments
from models.schema.roles import CampaignRole, Joining, Scope, Visibility
from models.schema.states import JudgmentKind
from steelyard.metrics.registry import parse_metric
from steelyard.ranking.autorank import AUTORANK
from steelyard.ranking.human_boards import parse_human_rule
from steelyard.text.names import MAX_NAME_LENGTH, fault_of_name, folded
from steelyard_client.documents.campaigns.campaigns import MAX_DESCRIPTION_LENGTH, MAX_TITLE_LENGTH

MAX_METRIC_LENGTH = 500


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules to set; None leaves a rule unchanged."""

    title: str | None = None
    description: str | None = None
    time_zone: str | None = None
    visibility: Visibility | None = None
    joining: Joining | None = None
    anonymous: bool | None = None
    verified_only: bool | None = None
    ranked_by: str | None = None
    human_rule: str | None = None
    """By which human judgments rank officially; "" for no such ranking."""
    human_judgments: str | None = None
    """Which judgments, NAME or NAME@VERSION."""
    embeddable: bool | None = None
    """Whether other sites may show the leaderboard in a frame."""


def create_campaign(connection: Connection, principal: Principal, name: str, rules: Rules) -> int:
    """Create a campaign organised by the principal; its id.

    Raises
    ------
    NotSignedIn
        If nobody is signed in.
    Forbidden
        If the caller lacks the permission.
    BadRequest
        For an invalid name.
    Conflict
        If it contradicts what is stored.
    UnknownMetric
        If a metric does not exist.
    BadParameter
        For an unknown metric to rank by.
    """
    if principal is not COMMAND_LINE:
        principal.require(Scope.ORGANISE)
        if not principal.may_create_campaigns:
            raise Forbidden("Only organisers can create campaigns. Ask an administrator to make you one.")
    name = short_text(name, "The name", MAX_NAME_LENGTH)
    if fault := fault_of_name(name):
        raise BadRequest(f"{name[:50]!r} cannot be the name of a campaign: {fault}.")
    campaign_id = insert_new(connection, Campaign, {"name": name, "folded_name": folded(name)})
    if campaign_id is None:
        raise Conflict(f"There is a campaign with the name {name!r} or a similar one. Choose another name.")
    if principal.account_id is not None:
        row = {"campaign_id": campaign_id, "account_id": principal.account_id, "role": CampaignRole.ORGANISER}
        connection.execute(insert(CampaignMember).values(**row))
    values = _validated(rules, ())
    if values:
        connection.execute(update(Campaign).where(Campaign.id == campaign_id).values(**values))
    principal.audit(connection, "campaign.found", f"campaign {name}", campaign_id=campaign_id, **values)
    return campaign_id


def create_missing_campaign(connection: Connection, principal: Principal, name: str) -> None:
    """Create a campaign by the usual rules where there is none of this name, for those who may create campaigns.

    For others nothing happens: that a name is free is nobody's business. Raises as `create_campaign`.
    """
    if principal.may_create_campaigns and connection.scalar(select(Campaign.id).where(Campaign.name == name)) is None:
        create_campaign(connection, principal, name, Rules())


def set_rules(connection: Connection, access: CampaignAccess, rules: Rules) -> None:
    """Change the rules of a campaign (`campaigns.changes.lock_for_change`).

    Raises
    ------
    BadRequest
        If a value is invalid.
    BadSchedule
        If the time zone does not exist.
    """
    values = _validated(rules, campaign_metrics(connection, access.campaign_id))
    _check_human_ranking(connection, access, values)
    before = connection.execute(select(Campaign).where(Campaign.id == access.campaign_id)).one()._asdict()
    changes = changed_fields(before, values)
    if changes:
        connection.execute(update(Campaign).where(Campaign.id == access.campaign_id).values(**values))
        _audit(connection, access, "campaign.rules", **changes)


def set_frozen(connection: Connection, access: CampaignAccess, frozen: bool) -> None:
    """Freeze or unfreeze a campaign. While frozen, nothing can be submitted, declared or withdrawn."""
    if frozen != (access.frozen_at is not None):
        value = now() if frozen else None
        connection.execute(update(Campaign).where(Campaign.id == access.campaign_id).values(frozen_at=value))
        _audit(connection, access, "campaign.freeze" if frozen else "campaign.unfreeze")


def _audit(connection: Connection, access: CampaignAccess, action: str, **details: Any) -> None:
    subject = f"campaign {access.name}"
    access.principal.audit(connection, action, subject, campaign_id=access.campaign_id, **details)


def _validated(rules: Rules, metrics: tuple[str, ...]) -> dict[str, Any]:
    values = {name: value for name, value in asdict(rules).items() if value is not None}
    for name, most in (("title", MAX_TITLE_LENGTH), ("description", MAX_DESCRIPTION_LENGTH)):
        if name in values:
            values[name] = short_text(values[name], f"The {name}", most, lines=name == "description")
    if "time_zone" in values:
        check_zone(values["time_zone"])
    if rule := values.get("human_rule"):
        values["human_rule"] = parse_human_rule(rule[:MAX_METRIC_LENGTH]).specification
    if wanted := values.get("ranked_by"):
        if len(wanted) > MAX_METRIC_LENGTH:
            raise BadRequest(f"The metric to rank by has {len(wanted):,} characters; {MAX_METRIC_LENGTH} are allowed.")
        # Before it has a test set, its metrics are not known: any existing metric is accepted.
        place = position_of_metric(metrics, wanted) if metrics else None
        if metrics and place is None:
            there = f"There are: {', '.join(metrics)}."
            if wanted.lower().startswith(AUTORANK):
                there += " `steelyard scores autorank` adds AutoRank to its leaderboards."
            raise BadRequest(f"The campaign has no metric {wanted[:100]!r} to rank by. {there}")
        if place is None:
            parse_metric(wanted)
        elif not wanted.lower().startswith(AUTORANK):
            # Each test set has an AutoRank of its own metrics.
            values["ranked_by"] = metrics[place]
    return values


def _check_human_ranking(connection: Connection, access: CampaignAccess, values: dict[str, Any]) -> None:
    """Raise BadRequest for a rule without judgments to rank by; complete the name of the only ones."""
    rule = values.get("human_rule", access.human_rule)
    if not rule:
        if values.get("human_rule") == "":
            values["human_judgments"] = ""
        elif values.get("human_judgments"):
            raise BadRequest("Name the rule for human rankings, too: human, human:wmt24 or human:wmt25.")
        return
    if not {"human_rule", "human_judgments"} & values.keys():
        return
    kinds = kinds_of_judgments(connection, access.campaign_id)
    wanted = values.get("human_judgments", access.human_judgments)
    names = sorted(name for name in kinds if "@" not in name)
    if not wanted and len(names) == 1:
        wanted = names[0]
    if wanted not in kinds:
        there = f"There are: {', '.join(names)}." if names else "Import some first."
        what = f"The campaign has no human judgments {wanted[:100]!r}." if wanted else "Say which judgments rank."
        raise BadRequest(f"{what} {there}")
    if kinds[wanted] == JudgmentKind.RANKINGS:
        raise BadRequest(
            f"{wanted!r} are relative rankings, which these rules cannot take. `steelyard judgments show` ranks by "
            "them."
        )
    values["human_judgments"] = wanted


def kinds_of_judgments(connection: Connection, campaign_id: int) -> dict[str, JudgmentKind]:
    """Return the kinds of a campaign's human judgments, by NAME (of its newest version) and by NAME@VERSION."""
    statement = select(Judgments.name, Judgments.version, Judgments.kind).where(Judgments.campaign_id == campaign_id)
    kinds = {}
    for name, version, kind in connection.execute(statement.order_by(Judgments.id)):
        kinds[name] = kinds[f"{name}@{version}"] = kind
    return kinds


def campaign_metrics(connection: Connection, campaign_id: int) -> tuple[str, ...]:
    """Return all metrics of a campaign, each once."""
    rows = connection.scalars(
        select(Protocol.metrics)
        .join(CampaignProtocol, CampaignProtocol.protocol_id == Protocol.id)
        .where(CampaignProtocol.campaign_id == campaign_id)
        .order_by(Protocol.id)
    )
    return tuple(dict.fromkeys(metric for metrics in rows for metric in metrics))
