"""A new password for who has forgotten the old one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, BackgroundTasks, Form, Path, Request, Response

from campaigns.accounts.confirmations import find_confirmation
from campaigns.accounts.mail import send
from campaigns.errors import BadRequest, TooMany, WebError
from campaigns.invitations.sign_up import ask_for_password, reset_password
from models.database.session import reading
from web.dependencies import Asking, state_of
from web.pages.rendering import page, see_other
from web.pages.signing import NO_STORE, again

router = APIRouter()

FORGOTTEN, NEW = "A forgotten password", "A new password"
Secret = Annotated[str, Path(max_length=200)]


@router.get("/password/forgotten")
def show_forgotten(request: Request, principal: Asking) -> Response:  # noqa: ARG001 - refuses bad tokens
    """Asks for the address."""
    return _forgotten(request)


@router.post("/password/forgotten")
def send_link(
    request: Request,
    principal: Asking,
    background: BackgroundTasks,
    email: Annotated[str, Form()] = "",
) -> Response:
    """Send the link, if there is such an account; the answer does not say whether there is."""
    state = state_of(request)
    if state.settings.mail_url is None:
        return _forgotten(request)
    try:
        letter = ask_for_password(state.engine, state.settings, state.throttle, principal, email)
    except (BadRequest, TooMany) as error:
        return again(request, "password_forgotten", error, title=FORGOTTEN, mails=True, email=email[:254])
    if letter is not None:
        background.add_task(send, state.settings, letter)
    return see_other("/sign-in?note=mail")


@router.get("/password/{secret}")
def show_new_password(request: Request, principal: Asking, secret: Secret) -> Response:  # noqa: ARG001
    """Asks for the new password. Opening the link uses nothing up: programs that look at mails open links, too."""
    with reading(state_of(request).engine) as connection:
        known = find_confirmation(connection, secret, "password")
    return page(request, "password_new", title=NEW, headers=NO_STORE, email=known.email, fault=None)


@router.post("/password/{secret}")
def set_new_password(
    request: Request, principal: Asking, secret: Secret, password: Annotated[str, Form()] = ""
) -> Response:
    """Set it; whoever knew the old one is signed out."""
    engine = state_of(request).engine
    with reading(engine) as connection:
        known = find_confirmation(connection, secret, "password")
    try:
        reset_password(engine, principal, secret, password)
    except WebError as error:
        return again(request, "password_new", error, title=NEW, email=known.email)
    return see_other("/sign-in?note=password")


def _forgotten(request: Request) -> Response:
    mails = state_of(request).settings.mail_url is not None
    return page(request, "password_forgotten", title=FORGOTTEN, mails=mails, email="", fault=None)
