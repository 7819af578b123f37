"""Read access to the audit log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import or_, select

from models.schema.accounts import AuditEntry
from models.schema.campaigns import Campaign
from models.schema.column_types import readable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One entry of the audit log."""

    id: int
    at: float
    actor: str
    address: str
    action: str
    subject: str
    campaign: str | None
    details: Mapping[str, Any]


def read_audit_log(
    connection: Connection,
    *,
    campaign_id: int | None = None,
    before: int | None = None,
    limit: int = 50,
    search: str = "",
) -> list[AuditRecord]:
    """Read the audit log of the server or of one campaign, newest first, one more than `limit` if there are more.

    `before` limits it to entries with smaller ids; `search` is looked for in actor, action and subject. For a campaign
    the network addresses are left out: its organisers do not see them.
    """
    asked = select(AuditEntry, Campaign.name.label("campaign")).outerjoin(
        Campaign, Campaign.id == AuditEntry.campaign_id
    )
    if campaign_id is not None:
        asked = asked.where(AuditEntry.campaign_id == campaign_id)
    if before is not None:
        asked = asked.where(AuditEntry.id < before)
    if search:
        looked_at = AuditEntry.actor, AuditEntry.action, AuditEntry.subject
        asked = asked.where(or_(*(each.icontains(search, autoescape=True) for each in looked_at)))
    return [
        AuditRecord(
            row.id,
            row.at,
            row.actor,
            row.address if campaign_id is None else "",
            row.action,
            row.subject,
            row.campaign,
            readable(row.details, {"unreadable": "in the database"}),
        )
        for row in connection.execute(asked.order_by(AuditEntry.id.desc()).limit(limit + 1))
    ]
