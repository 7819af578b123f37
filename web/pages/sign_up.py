"""Making an account."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, BackgroundTasks, Form, Request, Response

from campaigns.accounts.mail import send
from campaigns.accounts.sessions import begin_session
from campaigns.errors import WebError
from campaigns.invitations.sign_up import sign_up
from models.database.session import writing
from web.dependencies import Asking, session_secret, state_of
from web.pages.rendering import page, see_other
from web.pages.signing import NO_STORE, again, keep_session

router = APIRouter()

TITLE = "Sign up"


@router.get("/sign-up")
def show_sign_up(request: Request, principal: Asking) -> Response:
    """The form, where anybody may have an account."""
    if principal.signed_in:
        return see_other("/account")
    return page(request, "sign_up", title=TITLE, headers=NO_STORE, **_values(request))


@router.post("/sign-up")
def make_account(
    request: Request,
    principal: Asking,
    background: BackgroundTasks,
    email: Annotated[str, Form()] = "",
    name: Annotated[str, Form()] = "",
    password: Annotated[str, Form()] = "",
) -> Response:
    """Make the account, and go on with it, or by the mail that is sent."""
    state = state_of(request)
    try:
        made = sign_up(
            state.engine, state.settings, state.throttle, principal, email=email, name=name, password=password
        )
    except WebError as error:
        values = _values(request) | {"email": email[:254], "name": name[:100]}
        del values["fault"]
        return again(request, "sign_up", error, title=TITLE, **values)
    if made.letter is not None:
        background.add_task(send, state.settings, made.letter)
    if made.who is None:
        return see_other("/sign-in?note=mail")
    with writing(state.engine) as connection:
        secret = begin_session(
            connection, made.who, state.settings.session_lifetime, instead_of=session_secret(request)
        )
    response = see_other("/")
    keep_session(response, request, secret)
    return response


def _values(request: Request) -> dict[str, Any]:
    return {"open": state_of(request).settings.sign_up == "open", "email": "", "name": "", "fault": None}
