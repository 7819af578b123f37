"""One's own account: name, address, password, browsers and tokens."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Request, Response

from campaigns.accounts.accounts import read_account, rename_account
from campaigns.accounts.confirmations import confirm_address, find_confirmation, is_sent
from campaigns.accounts.mail import REFUSED, Email
from campaigns.accounts.permissions import require_browser
from campaigns.accounts.principal import Principal
from campaigns.accounts.sessions import end_sessions, list_sessions
from campaigns.accounts.tokens import list_tokens, make_token, revoke_token
from campaigns.errors import BadRequest, CampaignsError, Forbidden, TooMany
from campaigns.invitations.sign_up import change_address as change_address_of
from campaigns.invitations.sign_up import change_password, request_address_confirmation
from campaigns.invitations.sign_up import send_confirmation as send_confirmation_to
from models.database.session import reading, writing
from models.schema.roles import Scope
from web.api.paging import LARGEST_ID
from web.dependencies import SESSION_COOKIE, CurrentPrincipal, app_state
from web.pages.accounts.session_cookie import NO_STORE, again, drop_cookie
from web.pages.rendering import page, see_other
from web.state import State

router = APIRouter()

TITLE, TOKENS = "Your account", "Tokens"
NOTES = {
    "name": "Your name is changed.",
    "email": "Your address is changed.",
    "password": "Your password is changed, and all other browsers are signed out.",
    "sent": "We have sent you a mail. Open the link in it to confirm your address.",
    "unsent": "The mail that confirms your address could not be sent. Try again later, or ask an administrator.",
    "refused": f"No mail was sent. {REFUSED} Change the address, or ask an administrator.",
    "confirmed": "Your address is confirmed.",
}
SCOPES = (
    (Scope.READ, "Read", "Everything that you may see."),
    (Scope.SUBMIT, "Submit", "Hand in, declare and withdraw for your teams."),
    (Scope.ORGANISE, "Organise", "Everything else that you may change, such as campaigns and teams."),
)


@router.get("/account")
def show_account(request: Request, principal: CurrentPrincipal, note: str = "") -> Response:
    """All of it."""
    return page(request, "accounts/account", title=TITLE, headers=NO_STORE, **_account(request, principal, note=note))


@router.post("/account/name")
def change_name(request: Request, principal: CurrentPrincipal, name: Annotated[str, Form()] = "") -> Response:
    """Change the name."""
    account_id = principal.require(Scope.ORGANISE)
    try:
        with writing(app_state(request).engine) as connection:
            rename_account(connection, principal, account_id, name)
    except BadRequest as error:
        return again(
            request, "accounts/account", error, title=TITLE, **_account(request, principal, "name", name=name[:200])
        )
    return see_other("/account?note=name")


@router.post("/account/email")
def change_address(
    request: Request,
    principal: CurrentPrincipal,
    email: Annotated[str, Form()] = "",
    own_password: Annotated[str, Form()] = "",
) -> Response:
    """Change the address, which has to be confirmed then."""
    principal.require(Scope.ORGANISE)
    state = app_state(request)
    try:
        letter = change_address_of(state.engine, state.settings, state.throttle, principal, email, own_password)
    except CampaignsError as error:
        return again(
            request, "accounts/account", error, title=TITLE, **_account(request, principal, "email", email=email[:254])
        )
    if letter is None:
        return see_other("/account?note=email")
    return _sent(state, principal, letter)


@router.post("/account/password")
def change_own_password(
    request: Request,
    principal: CurrentPrincipal,
    old_password: Annotated[str, Form()] = "",
    new_password: Annotated[str, Form()] = "",
) -> Response:
    """Change the password."""
    principal.require(Scope.ORGANISE)
    state = app_state(request)
    try:
        tries = state.settings.sign_in_tries
        change_password(state.engine, state.throttle, principal, old_password, new_password, tries)
    except (BadRequest, TooMany) as error:
        return again(request, "accounts/account", error, title=TITLE, **_account(request, principal, "password"))
    return see_other("/account?note=password")


@router.post("/account/confirmation")
def send_confirmation(request: Request, principal: CurrentPrincipal) -> Response:
    """Send the link that confirms the address."""
    account_id = principal.require(Scope.ORGANISE)
    state = app_state(request)
    if state.settings.mail_url is None:
        return see_other("/account")
    letter = request_address_confirmation(state.engine, state.settings, state.throttle, account_id, principal.email)
    return _sent(state, principal, letter)


@router.get("/account/confirm/{secret}")
def show_confirm(
    request: Request, principal: CurrentPrincipal, secret: Annotated[str, Path(max_length=200)]
) -> Response:
    """Asks whether the address is to be confirmed: opening the link alone does nothing."""
    account_id = principal.require(Scope.READ)
    with reading(app_state(request).engine) as connection:
        known = find_confirmation(connection, secret, "address")
    if known.account_id != account_id:
        raise Forbidden("This link is for another account. Sign in to that one, and open the link again.")
    return page(
        request, "accounts/account_confirm", title="Confirm your address", headers=NO_STORE, email=known.sent_to
    )


@router.post("/account/confirm/{secret}")
def confirm(request: Request, principal: CurrentPrincipal, secret: Annotated[str, Path(max_length=200)]) -> Response:
    """Confirm the address."""
    principal.require(Scope.ORGANISE)
    with writing(app_state(request).engine) as connection:
        confirm_address(connection, principal, secret)
    return see_other("/account?note=confirmed")


@router.post("/account/sign-out-everywhere")
def sign_out_everywhere(request: Request, principal: CurrentPrincipal) -> Response:
    """End all sessions, that of this browser as well."""
    account_id = require_browser(principal)
    with writing(app_state(request).engine) as connection:
        ended = end_sessions(connection, account_id)
        principal.audit(connection, "session.end_all", f"account {principal.email}", sessions=ended)
    response = see_other("/sign-in?note=out")
    drop_cookie(response, request, SESSION_COOKIE)
    return response


@router.get("/account/tokens")
def show_tokens(request: Request, principal: CurrentPrincipal) -> Response:
    """All tokens, and a form for another one."""
    return page(request, "accounts/tokens", title=TOKENS, headers=NO_STORE, **_tokens(request, principal))


@router.post("/account/tokens")
def make_own_token(
    request: Request,
    principal: CurrentPrincipal,
    name: Annotated[str, Form()] = "",
    days: Annotated[str, Form()] = "",
    scopes: Annotated[list[str] | None, Form()] = None,
) -> Response:
    """Make a token, and show it: this page alone ever does."""
    account_id = require_browser(principal)
    state = app_state(request)
    try:
        if not (days.isascii() and days.isdigit() and len(days) < 9):
            raise BadRequest(f"{days[:20]!r} is not a number of days.")
        with writing(state.engine) as connection:
            _, secret = make_token(
                connection, principal, account_id, name, scopes or [], int(days), state.settings.token_days
            )
    except CampaignsError as error:
        given: dict[str, Any] = {"name": name[:100], "days": days[:20], "scopes": scopes or []}
        return again(request, "accounts/tokens", error, title=TOKENS, **_tokens(request, principal, **given))
    values = _tokens(request, principal, secret=secret)
    return page(request, "accounts/tokens", title=TOKENS, headers=NO_STORE, **values)


@router.post("/account/tokens/{token_id}/revoke")
def revoke(
    request: Request, principal: CurrentPrincipal, token_id: Annotated[int, Path(ge=1, le=LARGEST_ID)]
) -> Response:
    """Let a token be good no more."""
    account_id = principal.require(Scope.ORGANISE)
    with writing(app_state(request).engine) as connection:
        revoke_token(connection, principal, account_id, token_id)
    return see_other("/account/tokens")


def _sent(state: State, principal: Principal, email: Email) -> Response:
    """Send the mail that confirms the address, and redirect to the account page with the outcome."""
    fault = send_confirmation_to(state.engine, state.settings, email, principal.account_id)
    return see_other(f"/account?note={'refused' if fault == REFUSED else 'unsent' if fault else 'sent'}")


def _account(
    request: Request, principal: CurrentPrincipal, wrong: str = "", *, note: str = "", **given: str
) -> dict[str, Any]:
    """What the page shows. `wrong` is the form that was not taken."""
    account_id = principal.require(Scope.READ)
    state = app_state(request)
    with reading(state.engine) as connection:
        known = read_account(connection, account_id)
        sessions = list_sessions(connection, account_id)
        sent = is_sent(connection, account_id)
    return {
        "known": known,
        "sessions": sessions,
        "mails": state.settings.mail_url is not None,
        "note": NOTES.get(note, ""),
        "unsent": note in ("unsent", "refused"),
        "sent": sent,
        "wrong": wrong,
        "given": {"name": known.name, "email": known.email, **given},
        **({} if wrong else {"fault": None}),
    }


def _tokens(request: Request, principal: CurrentPrincipal, *, secret: str = "", **given: Any) -> dict[str, Any]:
    account_id = principal.require(Scope.READ)
    state = app_state(request)
    with reading(state.engine) as connection:
        tokens = list_tokens(connection, account_id)
    days = min(90, state.settings.token_days)
    return {
        "tokens": tokens,
        "secret": secret,
        "known_scopes": SCOPES,
        "longest": state.settings.token_days,
        "given": given or {"name": "", "days": days, "scopes": ["read", "submit"]},
        "crumbs": [("Your account", "/account")],
        **({} if given else {"fault": None}),
    }
