"""To change a campaign: by one of its organisers, one after the other, and not what somebody else has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from campaigns.accounts.principal import Principal
from campaigns.errors import OutOfDate
from campaigns.permissions import Sight, read_sight
from models.corpus.campaign_protocols import lock_campaign
from models.database.session import reading
from models.schema.campaigns import Campaign, CampaignProtocol, CampaignTestSet, Phase

if TYPE_CHECKING:
    from sqlalchemy import Engine


def require_organiser(engine: Engine, principal: Principal, campaign: str) -> Sight:
    """Before something is read for a campaign: who may not change it need not wait. Raises as `to_change` does."""
    with reading(engine) as connection:
        sight = read_sight(connection, principal, campaign)
    sight.require_organiser()
    return sight


def to_change(connection: Connection, principal: Principal, campaign: str, version: str | None = None) -> Sight:
    """A campaign that nobody else changes until the transaction ends, before one of its organisers.

    `version` is what its rules were when they were looked at (`version_of`), as an If-Match header says it. Raises
    NotThere, NotSignedIn, Forbidden and OutOfDate.
    """
    sight = read_sight(connection, principal, campaign)
    sight.require_organiser()
    lock_campaign(connection, sight.campaign_id)
    # Again: we may have waited for somebody who has changed it.
    sight = read_sight(connection, principal, campaign)
    sight.require_organiser()
    check_version(connection, sight.campaign_id, version)
    return sight


def version_of(connection: Connection, campaign_id: int) -> str:
    """Another one whenever the rules, phases, test sets or measures of a campaign are others."""
    rows: list[Any] = []
    for query in (
        select(Campaign).where(Campaign.id == campaign_id),
        select(Phase).where(Phase.campaign_id == campaign_id).order_by(Phase.id),
        select(CampaignTestSet).where(CampaignTestSet.campaign_id == campaign_id).order_by(CampaignTestSet.test_set_id),
        select(CampaignProtocol)
        .where(CampaignProtocol.campaign_id == campaign_id)
        .order_by(CampaignProtocol.protocol_id),
    ):
        rows.append([tuple(row) for row in connection.execute(query)])
    return hashlib.sha256(repr(rows).encode()).hexdigest()[:32]


def check_version(connection: Connection, campaign_id: int, version: str | None) -> None:
    """Raise OutOfDate where the rules are not those any more."""
    if version is None or version.strip() == "*":
        return
    known = {each.strip().removeprefix("W/").strip('"') for each in version.split(",")}
    if version_of(connection, campaign_id) not in known:
        raise OutOfDate


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, list[Any]]:
    """What is different, for the audit log: name -> [before, after]."""
    return {name: [before.get(name), value] for name, value in after.items() if before.get(name) != value}
