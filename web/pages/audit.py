"""The audit log."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query, Request, Response

from campaigns.accounts.audit_log import read_entries
from campaigns.accounts.permissions import require_administrator
from campaigns.errors import Forbidden
from campaigns.permissions import read_sight
from models.database.session import reading
from models.schema.roles import Scope
from web.api.paging import id_after
from web.dependencies import Asking, state_of
from web.pages.rendering import page, part_of_address

if TYPE_CHECKING:
    from campaigns.accounts.audit_log import KnownEntry

router = APIRouter()

SHOWN = 100
Search = Annotated[str, Query(max_length=200)]


@router.get("/audit")
def show_audit(request: Request, principal: Asking, search: Search = "", after: str = "") -> Response:
    """All changes on the server, for administrators."""
    require_administrator(principal, Scope.READ)
    with reading(state_of(request).engine) as connection:
        found = read_entries(connection, before=id_after(after), limit=SHOWN, search=search)
    return page(request, "audit", title="Audit log", **_values("/audit", found, search), zone="UTC")


@router.get("/campaigns/{campaign}/audit")
def show_campaign_audit(
    request: Request,
    principal: Asking,
    campaign: Annotated[str, Path(max_length=400)],
    search: Search = "",
    after: str = "",
) -> Response:
    """All changes of a campaign, for its organisers."""
    with reading(state_of(request).engine) as connection:
        sight = read_sight(connection, principal, campaign)
        principal.require(Scope.READ)
        if not sight.organises:
            raise Forbidden("Only organisers of this campaign may do that.")
        found = read_entries(
            connection, campaign_id=sight.campaign_id, before=id_after(after), limit=SHOWN, search=search
        )
    values = _values(f"/campaigns/{part_of_address(campaign)}/audit", found, search)
    return page(request, "audit", title="Audit log", sight=sight, here="manage", zone=sight.time_zone, **values)


def _values(address: str, found: list[KnownEntry], search: str) -> dict[str, Any]:
    asked = {"search": search} if search else {}
    older = f"{address}?{urlencode({**asked, 'after': found[SHOWN - 1].id})}" if len(found) > SHOWN else ""
    rows = [(each, [(name, _shown(value)) for name, value in each.details.items()]) for each in found[:SHOWN]]
    return {"address": address, "rows": rows, "older": older, "search": search}


def _shown(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)
