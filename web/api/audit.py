"""The audit log: who changed what, when."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field

from campaigns.accounts.audit_log import KnownEntry, read_entries
from campaigns.accounts.permissions import require_administrator
from campaigns.errors import Forbidden
from campaigns.permissions import read_sight
from models.database.session import reading
from models.schema.roles import Scope
from web.api.paging import After, Limit, Paged, id_after, in_pages
from web.dependencies import Asking, state_of

router = APIRouter(tags=["audit"])


class EntryShown(BaseModel):
    """One change."""

    id: int
    at: float = Field(description="Seconds since 1970.")
    actor: str = Field(description='The address of the account, "command line", or "nobody".')
    address: str = Field(description="The network address; only administrators are told it.")
    action: str
    subject: str
    campaign: str | None
    details: dict[str, Any]


Search = Annotated[str, Query(max_length=200, description="Looked for in actor, action and subject.")]


@router.get("/audit")
def read_audit(
    request: Request, principal: Asking, search: Search = "", limit: Limit = 50, after: After = ""
) -> Paged[EntryShown]:
    """All changes on the server, the newest first; for administrators."""
    require_administrator(principal, Scope.READ)
    with reading(state_of(request).engine) as connection:
        found = read_entries(connection, before=id_after(after), limit=limit, search=search)
    return Paged[EntryShown](**in_pages(found, limit, _shown))


@router.get("/campaigns/{campaign}/audit")
def read_campaign_audit(
    request: Request,
    principal: Asking,
    campaign: Annotated[str, Path(max_length=400)],
    search: Search = "",
    limit: Limit = 50,
    after: After = "",
) -> Paged[EntryShown]:
    """All changes of a campaign, the newest first; for its organisers."""
    with reading(state_of(request).engine) as connection:
        sight = read_sight(connection, principal, campaign)
        principal.require(Scope.READ)
        if not sight.organises:
            raise Forbidden("Only organisers of this campaign may do that.")
        found = read_entries(
            connection, campaign_id=sight.campaign_id, before=id_after(after), limit=limit, search=search
        )
    return Paged[EntryShown](**in_pages(found, limit, _shown))


def _shown(known: KnownEntry) -> EntryShown:
    return EntryShown(
        id=known.id,
        at=known.at,
        actor=known.actor,
        address=known.address,
        action=known.action,
        subject=known.subject,
        campaign=known.campaign,
        details=dict(known.details),
    )
