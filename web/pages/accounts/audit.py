"""The audit log."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query, Request, Response

from campaigns.accounts.audit_log import read_audit_log
from campaigns.accounts.permissions import require_administrator
from campaigns.errors import Forbidden
from campaigns.permissions import read_access
from models.database.session import reading
from models.schema.roles import Scope
from web.api.paging import parse_cursor
from web.dependencies import CurrentPrincipal, app_state
from web.pages.rendering import page, part_of_address

if TYPE_CHECKING:
    from campaigns.accounts.audit_log import AuditRecord

router = APIRouter()

SHOWN = 100
Search = Annotated[str, Query(max_length=200)]


@router.get("/audit")
def show_audit(request: Request, principal: CurrentPrincipal, search: Search = "", after: str = "") -> Response:
    """Show all changes on the server. For administrators."""
    require_administrator(principal, Scope.READ)
    with reading(app_state(request).engine) as connection:
        found = read_audit_log(connection, before=parse_cursor(after), limit=SHOWN, search=search)
    return page(request, "accounts/audit", title="Audit log", **_values("/audit", found, search), zone="UTC")


@router.get("/campaigns/{campaign}/audit")
def show_campaign_audit(
    request: Request,
    principal: CurrentPrincipal,
    campaign: Annotated[str, Path(max_length=400)],
    search: Search = "",
    after: str = "",
) -> Response:
    """Show all changes of a campaign. For its organisers."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, campaign)
        principal.require(Scope.READ)
        if not access.organises:
            raise Forbidden("Only organisers of this campaign can do that.")
        found = read_audit_log(
            connection, campaign_id=access.campaign_id, before=parse_cursor(after), limit=SHOWN, search=search
        )
    values = _values(f"/campaigns/{part_of_address(campaign)}/audit", found, search)
    return page(
        request, "accounts/audit", title="Audit log", access=access, here="manage", zone=access.time_zone, **values
    )


def _values(address: str, found: list[AuditRecord], search: str) -> dict[str, Any]:
    asked = {"search": search} if search else {}
    older = f"{address}?{urlencode({**asked, 'after': found[SHOWN - 1].id})}" if len(found) > SHOWN else ""
    rows = [(each, [(name, _format_value(value)) for name, value in each.details.items()]) for each in found[:SHOWN]]
    return {"address": address, "rows": rows, "older": older, "search": search}


def _format_value(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)
