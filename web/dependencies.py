"""What every route may ask for: settings, the database, who asks. FastAPI's dependencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, cast
from urllib.parse import urlsplit

from fastapi import Depends, Request

from campaigns.accounts.principal import (
    EVERY_SCOPE,
    Principal,
    note_use,
    principal_of_session,
    principal_of_token,
)
from campaigns.accounts.secrets import derived, same
from campaigns.errors import BadToken, ForgedRequest
from models.database.session import reading, writing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from runtime.service_settings import WebSettings
    from web.state import State

SESSION_COOKIE, VISITOR_COOKIE = "steelyard_session", "steelyard_visitor"
"""Names of cookies: of a browser that has signed in, and of one that may do so. See `cookie_name`."""
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
BEARER, API = "bearer", "/api/"
FORM_FIELD, FORM_HEADER = "csrf_token", "X-CSRF-Token"


def state_of(request: Request) -> State:
    """What the app was made with."""
    return cast("State", request.app.state.steelyard)


def address_of(request: Request) -> str:
    """The network address of whoever asks, as far as it is known (`web.app` believes proxies that it is told to)."""
    return request.client.host if request.client else ""


def is_secure(settings: WebSettings) -> bool:
    """Whether people reach the server by https alone."""
    return (settings.public_url or "").lower().startswith("https://")


def cookie_name(settings: WebSettings, name: str) -> str:
    """What a cookie is called: browsers let nobody but this very host set one with this prefix, and only by https."""
    return f"__Host-{name}" if is_secure(settings) else name


def session_secret(request: Request) -> str:
    """The secret of the session that a browser sends; "" where it sends none."""
    return request.cookies.get(cookie_name(state_of(request).settings, SESSION_COOKIE), "")


def browser_secret(request: Request) -> str:
    """What only this browser knows, signed in or not, and what its forms are known by; "" before its first form."""
    visitor = cookie_name(state_of(request).settings, VISITOR_COOKIE)
    return session_secret(request) or request.cookies.get(visitor, "")


def form_token(secret: str) -> str:
    """What a form must carry to be taken for one of this browser: nobody else can know it."""
    return derived(secret, "form")


@dataclass(frozen=True, slots=True)
class Credential:
    """The one thing that a request is judged by: whose it is, and whether its forms have to be ours."""

    kind: Literal["token", "session", "none"]
    secret: str = ""


def credential_of(request: Request) -> Credential:
    """A token where one is sent, else the session of the cookie.

    `Authorization` of other schemes, or of none, is not for us: a proxy before us may ask for a password of its own,
    which browsers send along. Raises BadToken where a token stands beside something else in that header.
    """
    given = request.headers.getlist("Authorization")
    tokens = [each for each in given if each.split(None, 1)[:1] and each.split(None, 1)[0].lower() == BEARER]
    if tokens:
        if len(given) > 1:
            raise BadToken("There is more than one Authorization header. Send the token alone.")
        return Credential("token", tokens[0].strip()[len(BEARER) :].strip())
    session = session_secret(request)
    return Credential("session", session) if session else Credential("none")


def read_principal(request: Request) -> Principal:
    """Who asks. Raises BadToken for a token that is no good: a program should not go on as nobody."""
    known: Principal | None = getattr(request.state, "principal", None)
    if known is not None:
        return known
    state, address = state_of(request), address_of(request)
    credential = credential_of(request)
    principal = Principal(address=address)
    if credential.kind == "token":
        with reading(state.engine) as connection:
            principal = principal_of_token(connection, credential.secret, address)
        if not principal.signed_in:
            raise BadToken
    elif credential.kind == "session":
        with reading(state.engine) as connection:
            principal = principal_of_session(connection, credential.secret, address)
    if principal.signed_in and state.is_stale(principal):
        with writing(state.engine) as connection:
            note_use(connection, principal, state.settings.session_lifetime)
    request.state.principal = principal
    return principal


async def check_form(request: Request) -> AsyncIterator[None]:
    """Raise ForgedRequest where a browser is to change something and the form is not from a page of ours.

    That holds before somebody has signed in, too: else a stranger's page could sign a browser in to the stranger's
    account. Programs with tokens are not judged by a cookie (`credential_of`), and no page makes a browser send one.
    """
    try:
        await _check_form(request)
        yield
    finally:
        # What was read of files is kept with the form; whoever is refused leaves none behind.
        await request.close()


async def _check_form(request: Request) -> None:
    if request.method in SAFE or credential_of(request).kind == "token":
        return
    if not _is_from_here(request):
        raise ForgedRequest
    in_api = request.url.path.startswith(API)
    secret = session_secret(request) if in_api else browser_secret(request)
    if in_api and not secret:
        return
    given = request.headers.get(FORM_HEADER, "")
    if not given and request.headers.get("Content-Type", "").startswith(
        ("application/x-www-form-urlencoded", "multipart/form-data")
    ):
        value = (await request.form()).get(FORM_FIELD, "")
        given = value if isinstance(value, str) else ""
    if not secret or not same(given, form_token(secret)):
        raise ForgedRequest


def _is_from_here(request: Request) -> bool:
    """Whether a page of this server asks, as far as the browser says; programs say nothing, and have no cookies."""
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = request.headers.get("Origin")
    if origin is None:
        return True
    public = state_of(request).settings.public_url
    # A proxy may end https and know us by another name.
    ours = {request.headers.get("Host", "").lower(), urlsplit(public).netloc.lower() if public else ""}
    return urlsplit(origin).netloc.lower() in ours - {""}


Asking = Annotated[Principal, Depends(read_principal)]
"""Who asks: a parameter `principal: Asking` of a route."""

__all__ = [
    "EVERY_SCOPE",
    "FORM_FIELD",
    "FORM_HEADER",
    "SESSION_COOKIE",
    "VISITOR_COOKIE",
    "Asking",
    "Credential",
    "address_of",
    "browser_secret",
    "check_form",
    "cookie_name",
    "credential_of",
    "form_token",
    "is_secure",
    "read_principal",
    "session_secret",
    "state_of",
]
