"""Changes to a campaign by its organisers: one at a time, and never over somebody else's unseen change."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from campaigns.accounts.principal import Principal
from campaigns.errors import OutOfDate
from campaigns.permissions import CampaignAccess, read_access
from models.corpus.campaign_protocols import lock_campaign
from models.database.session import reading
from models.schema.campaigns import Campaign, CampaignProtocol, CampaignTestSet, Phase

if TYPE_CHECKING:
    from sqlalchemy import Engine


def require_organiser(engine: Engine, principal: Principal, campaign: str) -> CampaignAccess:
    """Check permission before a file is read, so that an outsider is refused at once. Raises as `lock_for_change`."""
    with reading(engine) as connection:
        access = read_access(connection, principal, campaign)
    access.require_organiser()
    return access


def lock_for_change(
    connection: Connection, principal: Principal, campaign: str, version: str | None = None
) -> CampaignAccess:
    """Lock a campaign until the transaction ends, and return an organiser's access to it.

    `version` is the version of its rules that the change is based on (`version_of`), as in an If-Match header. Raises
    NotFound, NotSignedIn, Forbidden and OutOfDate.
    """
    access = read_access(connection, principal, campaign)
    access.require_organiser()
    lock_campaign(connection, access.campaign_id)
    # Read again: the campaign may have changed while this waited for the lock.
    access = read_access(connection, principal, campaign)
    access.require_organiser()
    check_version(connection, access.campaign_id, version)
    return access


def version_of(connection: Connection, campaign_id: int) -> str:
    """Return a hash that changes whenever the rules, phases, test sets or measures of a campaign change."""
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
    """Raise OutOfDate if `version` is not the current one."""
    if version is None or version.strip() == "*":
        return
    known = {each.strip().removeprefix("W/").strip('"') for each in version.split(",")}
    if version_of(connection, campaign_id) not in known:
        raise OutOfDate


def changed_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the differences for the audit log: name -> [before, after]."""
    return {name: [before.get(name), value] for name, value in after.items() if before.get(name) != value}
