"""Who one is."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel

from web.dependencies import Asking, state_of

router = APIRouter(tags=["me"])


class Me(BaseModel):
    """The account behind a request."""

    signed_in: bool
    email: str
    name: str
    role: str | None
    verified: bool
    scopes: list[str]
    teams: dict[str, str]
    """Name of the team -> what the account is in it."""


class WaitingUpload(BaseModel):
    """A file of the account that the server has, but has not begun to read."""

    before: int
    """How many are read before it, as things stand: others may give up, or come who have used less."""


class WaitingUploads(BaseModel):
    """All of them, the next one first."""

    items: list[WaitingUpload]
    next: str | None


@router.get("/me")
def read_me(principal: Asking) -> Me:
    """Who asks: the account of the token or of the session, or nobody."""
    return Me(
        signed_in=principal.signed_in,
        email=principal.email,
        name=principal.name,
        role=principal.role,
        verified=principal.verified,
        scopes=sorted(principal.scopes),
        teams=dict(principal.teams),
    )


@router.get("/me/waiting-uploads")
def list_waiting_uploads(request: Request, principal: Asking) -> WaitingUploads:
    """What the account has sent, over any connection, and what waits for its turn to be read and checked."""
    places = state_of(request).sandbox.places(principal.account_id) if principal.signed_in else []
    return WaitingUploads(items=[WaitingUpload(before=place) for place in places], next=None)
