"""Signing in and out."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response

from campaigns.accounts.sessions import authenticate, create_session, end_session
from campaigns.errors import CampaignsError
from models.database.session import writing
from web.dependencies import SESSION_COOKIE, VISITOR_COOKIE, CurrentPrincipal, app_state, session_secret
from web.pages.accounts.session_cookie import NO_STORE, address_here, again, drop_cookie, keep_session
from web.pages.rendering import page, see_other

router = APIRouter()

TITLE = "Sign in"
NOTES = {
    "password": "The password is set. Sign in with it.",
    "out": "You are signed out.",
    "mail": "We have sent you a mail. Open the link in it to go on.",
}


@router.get("/sign-in")
def show_sign_in(request: Request, principal: CurrentPrincipal, next: str = "", note: str = "") -> Response:  # noqa: A002
    """The form; who is signed in goes on."""
    if principal.signed_in:
        return see_other(address_here(next))
    values: dict[str, Any] = {"next": address_here(next, ""), "note": NOTES.get(note, ""), "email": "", "fault": None}
    return page(request, "accounts/sign_in", title=TITLE, headers=NO_STORE, open=_is_open(request), **values)


@router.post("/sign-in")
def sign_in(
    request: Request,
    principal: CurrentPrincipal,
    email: Annotated[str, Form()] = "",
    password: Annotated[str, Form()] = "",
    next: Annotated[str, Form()] = "",  # noqa: A002
) -> Response:
    """Begin a session of its own."""
    state = app_state(request)
    settings = state.settings
    try:
        who = authenticate(state.engine, state.throttle, email, password, principal.address, settings.sign_in_tries)
    except CampaignsError as error:
        values = {"next": address_here(next, ""), "note": "", "email": email[:254]}
        return again(request, "accounts/sign_in", error, title=TITLE, open=_is_open(request), **values)
    with writing(state.engine) as connection:
        secret = create_session(connection, who, settings.session_lifetime, instead_of=session_secret(request))
    response = see_other(address_here(next))
    keep_session(response, request, secret)
    return response


@router.post("/sign-out")
def sign_out(request: Request, principal: CurrentPrincipal) -> Response:
    """End the session of this browser."""
    if principal.session_id is not None:
        with writing(app_state(request).engine) as connection:
            end_session(connection, principal)
    response = see_other("/sign-in?note=out")
    drop_cookie(response, request, SESSION_COOKIE)
    drop_cookie(response, request, VISITOR_COOKIE)
    return response


def _is_open(request: Request) -> bool:
    return app_state(request).settings.sign_up == "open"
