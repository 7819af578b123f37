"""Who one is."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel

from web.asking import Asking

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
