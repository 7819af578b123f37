"""The audit log as it is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import or_, select

from models.schema.accounts import AuditEntry
from models.schema.campaigns import Campaign

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class KnownEntry:
    """One change."""

    id: int
    at: float
    actor: str
    address: str
    action: str
    subject: str
    campaign: str | None
    details: Mapping[str, Any]


def read_entries(
    connection: Connection,
    *,
    campaign_id: int | None = None,
    before: int | None = None,
    limit: int = 50,
    search: str = "",
) -> list[KnownEntry]:
    """Changes, the newest first, one more than the limit where there are more: of all, or of one campaign.

    `before` is an id; `search` is looked for in who, what and where. Organisers of a campaign are not told from which
    network address somebody came.
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
        KnownEntry(
            row.id,
            row.at,
            row.actor,
            row.address if campaign_id is None else "",
            row.action,
            row.subject,
            row.campaign,
            row.details,
        )
        for row in connection.execute(asked.order_by(AuditEntry.id.desc()).limit(limit + 1))
    ]
