"""Creating an account."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, BackgroundTasks, Form, Request, Response

from campaigns.accounts.sessions import create_session
from campaigns.errors import CampaignsError
from campaigns.invitations.sign_up import send_confirmation, sign_up
from models.database.session import writing
from web.dependencies import CurrentPrincipal, app_state, session_secret
from web.pages.accounts.session_cookie import NO_STORE, form_with_error, set_session_cookie
from web.pages.rendering import page, see_other

router = APIRouter()

TITLE = "Sign up"


@router.get("/sign-up")
def show_sign_up(request: Request, principal: CurrentPrincipal) -> Response:
    """Show the form, or how to get an invitation where sign-up is closed."""
    if principal.signed_in:
        return see_other("/account")
    return page(request, "accounts/sign_up", title=TITLE, headers=NO_STORE, **_values(request))


@router.post("/sign-up")
def create_account(
    request: Request,
    principal: CurrentPrincipal,
    background: BackgroundTasks,
    email: Annotated[str, Form()] = "",
    name: Annotated[str, Form()] = "",
    password: Annotated[str, Form()] = "",
) -> Response:
    """Create the account and sign in, or ask the user to open the link in the e-mail."""
    state = app_state(request)
    try:
        made = sign_up(
            state.engine, state.settings, state.throttle, principal, email=email, name=name, password=password
        )
    except CampaignsError as error:
        values = _values(request) | {"email": email[:254], "name": name[:100]}
        del values["error"]
        return form_with_error(request, "accounts/sign_up", error, title=TITLE, **values)
    if made.mail is not None:
        background.add_task(send_confirmation, state.engine, state.settings, made.mail, made.confirms)
    if made.who is None:
        return see_other("/sign-in?note=mail")
    with writing(state.engine) as connection:
        secret = create_session(
            connection, made.who, state.settings.session_lifetime, instead_of=session_secret(request)
        )
    response = see_other("/")
    set_session_cookie(response, request, secret)
    return response


def _values(request: Request) -> dict[str, Any]:
    settings = app_state(request).settings
    opened = settings.sign_up == "open"
    return {"open": opened, "providers": settings.sign_in_with, "email": "", "name": "", "error": None}
