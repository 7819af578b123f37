"""The audit log of changes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from campaigns.accounts.audit_log import AuditRecord, read_audit_log
from campaigns.accounts.permissions import require_administrator
from campaigns.errors import Forbidden
from campaigns.permissions import read_access
from models.database.session import reading
from models.schema.roles import Scope
from steelyard_client.documents.accounts.audit import AuditEntryResponse
from steelyard_client.documents.document import utc
from steelyard_client.documents.paging import Page
from web.api.paging import After, Limit, make_page, parse_cursor
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["audit"])


Search = Annotated[str, Query(max_length=200, description="Text to find in actor, action and subject.")]


@router.get("/audit")
def list_audit_entries(
    request: Request, principal: CurrentPrincipal, search: Search = "", limit: Limit = 50, after: After = ""
) -> Page[AuditEntryResponse]:
    """List all changes on the server, newest first. For administrators."""
    require_administrator(principal, Scope.READ)
    with reading(app_state(request).engine) as connection:
        found = read_audit_log(connection, before=parse_cursor(after), limit=limit, search=search)
    return Page[AuditEntryResponse](**make_page(found, limit, _audit_entry_response))


@router.get("/campaigns/{campaign}/audit")
def list_campaign_audit_entries(
    request: Request,
    principal: CurrentPrincipal,
    campaign: Annotated[str, Path(max_length=400)],
    search: Search = "",
    limit: Limit = 50,
    after: After = "",
) -> Page[AuditEntryResponse]:
    """List all changes of a campaign, newest first. For its organisers."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, campaign)
        principal.require(Scope.READ)
        if not access.organises:
            raise Forbidden("Only organisers of this campaign may do that.")
        found = read_audit_log(
            connection, campaign_id=access.campaign_id, before=parse_cursor(after), limit=limit, search=search
        )
    return Page[AuditEntryResponse](**make_page(found, limit, _audit_entry_response))


def _audit_entry_response(known: AuditRecord) -> AuditEntryResponse:
    return AuditEntryResponse(
        id=known.id,
        at=utc(known.at),
        actor=known.actor,
        address=known.address,
        action=known.action,
        subject=known.subject,
        campaign=known.campaign,
        details=dict(known.details),
    )
