"""FastAPI dependencies of the routes: app state, principal, form check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, cast
from urllib.parse import urlsplit

from fastapi import Depends, Request

from campaigns.accounts.principal import (
    Principal,
    principal_of_session,
    principal_of_token,
    record_use,
)
from campaigns.accounts.secrets import derive_secret, equal_secrets
from campaigns.accounts.throttle import network_of
from campaigns.errors import BadToken, ForgedRequest
from campaigns.sandbox.fair_queue import Owner
from models.database.session import reading, writing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from runtime.service_settings import WebSettings
    from web.state import State

SESSION_COOKIE, VISITOR_COOKIE = "steelyard_session", "steelyard_visitor"
"""Cookies of signed-in browsers and of anonymous ones. See `cookie_name`."""
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
BEARER, API = "bearer", "/api/"
FORM_FIELD, FORM_HEADER = "csrf_token", "X-CSRF-Token"


def app_state(request: Request) -> State:
    """The state of the app of a request."""
    return cast("State", request.app.state.steelyard)


def address_of(request: Request) -> str:
    """The client's network address; "" if unknown. `web.guards.proxies` takes it from trusted proxies."""
    return request.client.host if request.client else ""


def is_secure(settings: WebSettings) -> bool:
    """Whether the public URL is https."""
    return (settings.public_url or "").lower().startswith("https://")


def cookie_name(settings: WebSettings, name: str) -> str:
    """The full name of a cookie: with https it has the prefix `__Host-`, so that only this host can set it."""
    return f"__Host-{name}" if is_secure(settings) else name


def session_secret(request: Request) -> str:
    """The session secret that a browser sends; "" for none."""
    return request.cookies.get(cookie_name(app_state(request).settings, SESSION_COOKIE), "")


def browser_secret(request: Request) -> str:
    """The secret of this browser, signed in or not, from which form tokens derive; "" before its first form."""
    visitor = cookie_name(app_state(request).settings, VISITOR_COOKIE)
    return session_secret(request) or request.cookies.get(visitor, "")


def form_token(secret: str) -> str:
    """The CSRF token of forms, derived from the browser's secret."""
    return derive_secret(secret, "form")


@dataclass(frozen=True, slots=True)
class Credential:
    """The credential of a request. It decides the principal, and whether forms need a CSRF token."""

    kind: Literal["token", "session", "none"]
    secret: str = ""


def credential_of(request: Request) -> Credential:
    """The bearer token of a request if there is one, else its session cookie.

    Other schemes of `Authorization` are ignored: a proxy may require a password of its own, which browsers send along.

    Raises
    ------
    BadToken
        If a token comes with a second Authorization header.
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
    """The principal of a request.

    Raises
    ------
    BadToken
        If the token is invalid: a program must not continue anonymously.
    """
    known: Principal | None = getattr(request.state, "principal", None)
    if known is not None:
        return known
    state, address = app_state(request), address_of(request)
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
            record_use(connection, principal, state.settings.session_lifetime)
    request.state.principal = principal
    return principal


async def check_form(request: Request) -> AsyncIterator[None]:
    """CSRF check: raise ForgedRequest if a browser sends a form that is not from one of our pages.

    It applies to anonymous browsers, too; otherwise a foreign page could sign a browser in to an attacker's account.
    Requests with a token are exempt: cookies do not count for them (`credential_of`), and no page can make a browser
    send a token.
    """
    try:
        await _check_form(request)
        yield
    finally:
        # Closes the temporary files of the form, even when the request is refused.
        await request.close()


async def _check_form(request: Request) -> None:
    if request.method in SAFE_METHODS or credential_of(request).kind == "token":
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
    if not secret or not equal_secrets(given, form_token(secret)):
        raise ForgedRequest


def _is_from_here(request: Request) -> bool:
    """Whether the request comes from a page of this server, by the browser's headers; True where it sends none."""
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = request.headers.get("Origin")
    if origin is None:
        return True
    public = app_state(request).settings.public_url
    # A proxy may terminate https and use another host name.
    ours = {request.headers.get("Host", "").lower(), urlsplit(public).netloc.lower() if public else ""}
    return urlsplit(origin).netloc.lower() in ours - {""}


CurrentPrincipal = Annotated[Principal, Depends(read_principal)]
"""The principal of the request: a parameter `principal: CurrentPrincipal` of a route."""


async def _turn_of_segments(request: Request, principal: CurrentPrincipal) -> AsyncIterator[None]:
    state = app_state(request)
    owner = Owner(principal.account_id or network_of(address_of(request)))
    async with state.segment_pages.turn(owner, state.settings.waiting_seconds):
        yield


IN_TURN = Depends(_turn_of_segments, scope="function")
"""For routes that read whole texts: who asks for many at once waits for himself, and holds no thread meanwhile."""
