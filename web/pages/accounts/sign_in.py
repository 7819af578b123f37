"""Signing in and out."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response

from campaigns.accounts.sessions import authenticate, create_session, end_session
from campaigns.errors import CampaignsError
from models.database.session import writing
from web.dependencies import SESSION_COOKIE, VISITOR_COOKIE, CurrentPrincipal, app_state, session_secret
from web.pages.accounts.session_cookie import (
    NO_STORE,
    delete_cookie,
    form_with_error,
    local_address,
    set_session_cookie,
)
from web.pages.rendering import page, see_other

router = APIRouter()

TITLE = "Sign in"
NOTES = {
    "password": "Password set. You can sign in with it now.",
    "out": "You have signed out.",
    "mail": "We sent you an e-mail. Open the link in it to continue.",
}


@router.get("/sign-in")
def show_sign_in(request: Request, principal: CurrentPrincipal, next: str = "", note: str = "") -> Response:  # noqa: A002
    """Show the form, or redirect if already signed in."""
    if principal.signed_in:
        return see_other(local_address(next))
    values: dict[str, Any] = {"next": local_address(next, ""), "note": NOTES.get(note, ""), "email": "", "error": None}
    return page(request, "accounts/sign_in", title=TITLE, headers=NO_STORE, open=_is_open(request), **values)


@router.post("/sign-in")
def sign_in(
    request: Request,
    principal: CurrentPrincipal,
    email: Annotated[str, Form()] = "",
    password: Annotated[str, Form()] = "",
    next: Annotated[str, Form()] = "",  # noqa: A002
) -> Response:
    """Sign in, in a new session."""
    state = app_state(request)
    settings = state.settings
    try:
        account = authenticate(state.engine, state.throttle, email, password, principal.address, settings.sign_in_tries)
    except CampaignsError as error:
        values = {"next": local_address(next, ""), "note": "", "email": email[:254]}
        return form_with_error(request, "accounts/sign_in", error, title=TITLE, open=_is_open(request), **values)
    with writing(state.engine) as connection:
        secret = create_session(connection, account, settings.session_lifetime, instead_of=session_secret(request))
    response = see_other(local_address(next))
    set_session_cookie(response, request, secret)
    return response


@router.post("/sign-out")
def sign_out(request: Request, principal: CurrentPrincipal) -> Response:
    """End the session of this browser."""
    if principal.session_id is not None:
        with writing(app_state(request).engine) as connection:
            end_session(connection, principal)
    response = see_other("/sign-in?note=out")
    delete_cookie(response, request, SESSION_COOKIE)
    delete_cookie(response, request, VISITOR_COOKIE)
    return response


def _is_open(request: Request) -> bool:
    return app_state(request).settings.sign_up == "open"
