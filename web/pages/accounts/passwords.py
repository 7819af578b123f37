"""Resetting a forgotten password."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, BackgroundTasks, Form, Path, Request, Response

from campaigns.accounts.confirmations import find_confirmation
from campaigns.errors import BadRequest, CampaignsError, TooMany
from campaigns.invitations.sign_up import request_password_reset, reset_password
from models.database.session import reading
from runtime.mail import send_email
from web.dependencies import CurrentPrincipal, app_state
from web.pages.accounts.session_cookie import NO_STORE, form_with_error
from web.pages.rendering import page, see_other

router = APIRouter()

FORGOTTEN, NEW = "Reset your password", "Set a new password"
Secret = Annotated[str, Path(max_length=200)]


@router.get("/password/forgotten")
def show_forgotten(request: Request, principal: CurrentPrincipal) -> Response:  # noqa: ARG001 - refuses bad tokens
    """Ask for the address."""
    return _forgotten(request)


@router.post("/password/forgotten")
def send_link(
    request: Request,
    principal: CurrentPrincipal,
    background: BackgroundTasks,
    email: Annotated[str, Form()] = "",
) -> Response:
    """Send the link, if there is such an account; the response does not reveal whether there is."""
    state = app_state(request)
    if state.settings.mail_url is None:
        return _forgotten(request)
    try:
        message = request_password_reset(state.engine, state.settings, state.throttle, principal, email)
    except (BadRequest, TooMany) as error:
        return form_with_error(
            request, "accounts/password_forgotten", error, title=FORGOTTEN, mails=True, email=email[:254]
        )
    if message is not None:
        background.add_task(send_email, state.settings, message)
    return see_other("/sign-in?note=mail")


@router.get("/password/{secret}")
def show_new_password(request: Request, principal: CurrentPrincipal, secret: Secret) -> Response:  # noqa: ARG001
    """Ask for the new password. Opening the link does not use it up: mail scanners open links, too."""
    with reading(app_state(request).engine) as connection:
        known = find_confirmation(connection, secret, "password")
    return page(request, "accounts/password_new", title=NEW, headers=NO_STORE, email=known.email, error=None)


@router.post("/password/{secret}")
def set_new_password(
    request: Request, principal: CurrentPrincipal, secret: Secret, password: Annotated[str, Form()] = ""
) -> Response:
    """Set it, and end all sessions of the account."""
    engine = app_state(request).engine
    with reading(engine) as connection:
        known = find_confirmation(connection, secret, "password")
    try:
        reset_password(engine, principal, secret, password)
    except CampaignsError as error:
        return form_with_error(request, "accounts/password_new", error, title=NEW, email=known.email)
    return see_other("/sign-in?note=password")


def _forgotten(request: Request) -> Response:
    mails = app_state(request).settings.mail_url is not None
    return page(request, "accounts/password_forgotten", title=FORGOTTEN, mails=mails, email="", error=None)
