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
    "deleted": "Your account was deleted.",
    "out": "You have signed out.",
    "mail": "We sent you an e-mail. Open the link in it to continue.",
}


@router.get("/sign-in")
def show_sign_in(request: Request, principal: CurrentPrincipal, next: str = "", note: str = "") -> Response:  # noqa: A002
    """Show the form, or redirect if already signed in."""
    if principal.signed_in:
        return see_other(local_address(next))
    return sign_in_page(request, None, next, note=NOTES.get(note, ""))


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
        return sign_in_page(request, error, next, email=email[:254])
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


def sign_in_page(
    request: Request,
    error: CampaignsError | None,
    next: str = "",  # noqa: A002
    *,
    email: str = "",
    note: str = "",
) -> Response:
    """Show the ways to sign in."""
    settings = app_state(request).settings
    values: dict[str, Any] = {
        "title": TITLE,
        "open": settings.sign_up == "open",
        "providers": settings.sign_in_with,
        "next": local_address(next, ""),
        "email": email,
        "note": note,
    }
    if error is None:
        return page(request, "accounts/sign_in", headers=NO_STORE, error=None, **values)
    return form_with_error(request, "accounts/sign_in", error, **values)
