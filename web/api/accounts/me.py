"""The principal of the request."""

from __future__ import annotations

from fastapi import APIRouter, Request

from steelyard_client.documents.accounts.accounts import MeResponse, WaitingUpload
from steelyard_client.documents.paging import Page
from web.api.paging import After, Limit, slice_page
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["me"])


@router.get("/me")
def read_me(principal: CurrentPrincipal) -> MeResponse:
    """Read the account of the token or session, or an anonymous one."""
    return MeResponse(
        signed_in=principal.signed_in,
        email=principal.email,
        name=principal.name,
        role=principal.role,
        verified=principal.verified,
        scopes=sorted(principal.scopes),
        teams=dict(principal.teams),
    )


@router.get("/me/waiting-uploads")
def list_waiting_uploads(
    request: Request, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[WaitingUpload]:
    """List your received files, from any connection, that wait to be processed, the next one first."""
    places = app_state(request).sandbox.places(principal.account_id) if principal.account_id is not None else []
    found, following = slice_page(places, limit, after)
    return Page(items=[WaitingUpload(before=place) for place in found], next=following)
