"""What every route may ask for: settings, the database, who asks. FastAPI's dependencies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

from fastapi import Depends, Request

from models.session import reading, writing
from web.access.principal import (
    EVERY_SCOPE,
    Principal,
    note_use,
    principal_of_session,
    principal_of_token,
)
from web.access.secrets import derived, same
from web.errors import ForgedRequest, NotSignedIn

if TYPE_CHECKING:
    from web.state import State

SESSION_COOKIE = "steelyard_session"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
BEARER = "bearer "
FORM_FIELD, FORM_HEADER = "csrf_token", "X-CSRF-Token"


def state_of(request: Request) -> State:
    """What the app was made with."""
    return cast("State", request.app.state.steelyard)


def address_of(request: Request) -> str:
    """The network address of whoever asks, as far as it is known (`web.app` believes proxies that it is told to)."""
    return request.client.host if request.client else ""


def form_token(secret: str) -> str:
    """What a form must carry to be taken for one of this session: nobody else can know it."""
    return derived(secret, "form")


def read_principal(request: Request) -> Principal:
    """Who asks. Raises NotSignedIn for a token that is no good: a program should not go on as nobody."""
    known: Principal | None = getattr(request.state, "principal", None)
    if known is not None:
        return known
    state, address = state_of(request), address_of(request)
    given = request.headers.get("Authorization", "")
    cookie = request.cookies.get(SESSION_COOKIE, "")
    principal = Principal(address=address)
    if given:
        if not given.lower().startswith(BEARER):
            raise NotSignedIn
        with reading(state.engine) as connection:
            principal = principal_of_token(connection, given[len(BEARER) :].strip(), address)
        if not principal.signed_in:
            raise NotSignedIn("This token is unknown, or was revoked, or is over. Make another one.")
    elif cookie:
        with reading(state.engine) as connection:
            principal = principal_of_session(connection, cookie, address)
    if principal.signed_in and state.is_stale(principal):
        with writing(state.engine) as connection:
            note_use(connection, principal, state.settings.session_seconds)
    request.state.principal = principal
    return principal


async def check_form(request: Request) -> None:
    """Raise ForgedRequest where a browser's session is to change something and the form is not from our own page.

    Programs with tokens send no cookie, so that nobody can make a browser send theirs.
    """
    secret = request.cookies.get(SESSION_COOKIE)
    if request.method in SAFE or not secret or "Authorization" in request.headers:
        return
    given = request.headers.get(FORM_HEADER, "")
    if not given and request.headers.get("Content-Type", "").startswith(
        ("application/x-www-form-urlencoded", "multipart/form-data")
    ):
        value = (await request.form()).get(FORM_FIELD, "")
        given = value if isinstance(value, str) else ""
    if not same(given, form_token(secret)):
        raise ForgedRequest


Asking = Annotated[Principal, Depends(read_principal)]
"""Who asks: a parameter `principal: Asking` of a route."""

__all__ = [
    "EVERY_SCOPE",
    "FORM_FIELD",
    "FORM_HEADER",
    "SESSION_COOKIE",
    "Asking",
    "address_of",
    "check_form",
    "form_token",
    "read_principal",
    "state_of",
]
