"""The principal of the request."""

from __future__ import annotations

from fastapi import APIRouter, Request

from web.api.document import Document
from web.api.paging import After, Limit, Page, slice_page
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["me"])


class MeResponse(Document):
    """The account of the token or session of a request."""

    signed_in: bool
    """Whether the request came with a valid token or session."""
    email: str
    """E-mail address of the account."""
    name: str
    """Name of the person."""
    role: str | None
    """Role on the server; null for visitors."""
    verified: bool
    """Whether the e-mail address is confirmed."""
    scopes: list[str]
    """What the token permits; all scopes in a session."""
    teams: dict[str, str]
    """Name of the team -> role of the account in it."""


class WaitingUpload(Document):
    """A received file of the account that waits to be processed."""

    before: int
    """How many files are processed before it; this can change, as accounts share the server fairly."""


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
    places = app_state(request).sandbox.places(principal.account_id) if principal.signed_in else []
    found, following = slice_page(places, limit, after)
    return Page(items=[WaitingUpload(before=place) for place in found], next=following)
