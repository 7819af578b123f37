"""The user's own account: name, address, password, sessions and tokens."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Request, Response

from campaigns.accounts.accounts import read_account, rename_account
from campaigns.accounts.confirmations import confirm_address, find_confirmation, is_sent
from campaigns.accounts.external.identities import list_identities
from campaigns.accounts.permissions import require_browser
from campaigns.accounts.principal import Principal
from campaigns.accounts.sessions import end_one_session, end_sessions, list_sessions
from campaigns.accounts.tokens import list_tokens, make_token, revoke_token
from campaigns.deletion.accounts import delete_account
from campaigns.errors import BadRequest, CampaignsError, Conflict, Forbidden, TooMany
from campaigns.invitations.sign_up import change_address as change_address_of
from campaigns.invitations.sign_up import change_password, request_address_confirmation
from campaigns.invitations.sign_up import send_confirmation as send_confirmation_to
from models.database.session import reading, writing
from models.schema.roles import Scope
from runtime.mail import REFUSED, Email
from web.api.paging import LARGEST_ID
from web.dependencies import SESSION_COOKIE, CurrentPrincipal, app_state
from web.pages.accounts.session_cookie import NO_STORE, delete_cookie, form_with_error
from web.pages.deletion import deletion_page
from web.pages.forms import InvalidForm, form_errors
from web.pages.rendering import page, see_other
from web.state import State

router = APIRouter()

DELETION_PHRASE = "delete my account"
TITLE, TOKENS = "Your account", "API tokens"
NOTES = {
    "name": "Name changed.",
    "email": "Address changed.",
    "password": "Password changed. All other browsers were signed out.",
    "sent": "We sent you an e-mail. Open the link in it to confirm your address.",
    "unsent": "The confirmation e-mail could not be sent. Try again later, or ask an administrator.",
    "refused": f"No e-mail was sent. {REFUSED} Change the address, or ask an administrator.",
    "confirmed": "Address confirmed.",
    "linked": "Linked. You can sign in with it from now on.",
    "unlinked": "Removed.",
    "ended": "Session ended.",
}
SCOPES = (
    (Scope.READ, "Read", "Read everything that you can see."),
    (Scope.SUBMIT, "Submit", "Submit, change and withdraw submissions of your teams."),
    (Scope.ORGANISE, "Organise", "Change everything else that you can change, such as campaigns and teams."),
)


@router.get("/account")
def show_account(request: Request, principal: CurrentPrincipal, note: str = "") -> Response:
    """Show the account."""
    return page(request, "accounts/account", title=TITLE, headers=NO_STORE, **_account(request, principal, note=note))


@router.post("/account/name")
def change_name(request: Request, principal: CurrentPrincipal, name: Annotated[str, Form()] = "") -> Response:
    """Change the name."""
    account_id = principal.require_account(Scope.ORGANISE)
    try:
        with writing(app_state(request).engine) as connection:
            rename_account(connection, principal, account_id, name)
    except BadRequest as error:
        return form_with_error(
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
    """Change the address, which must then be confirmed."""
    principal.require(Scope.ORGANISE)
    state = app_state(request)
    try:
        message = change_address_of(state.engine, state.settings, state.throttle, principal, email, own_password)
    except CampaignsError as error:
        return form_with_error(
            request, "accounts/account", error, title=TITLE, **_account(request, principal, "email", email=email[:254])
        )
    if message is None:
        return see_other("/account?note=email")
    return _sent(state, principal, message)


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
        return form_with_error(
            request, "accounts/account", error, title=TITLE, **_account(request, principal, "password")
        )
    return see_other("/account?note=password")


@router.post("/account/confirmation")
def send_confirmation(request: Request, principal: CurrentPrincipal) -> Response:
    """Send the link that confirms the address."""
    account_id = principal.require_account(Scope.ORGANISE)
    state = app_state(request)
    if state.settings.mail_url is None:
        return see_other("/account")
    message = request_address_confirmation(state.engine, state.settings, state.throttle, account_id, principal.email)
    return _sent(state, principal, message)


@router.get("/account/confirm/{secret}")
def show_confirm(
    request: Request, principal: CurrentPrincipal, secret: Annotated[str, Path(max_length=200)]
) -> Response:
    """Ask for confirmation: opening the link alone has no effect."""
    account_id = principal.require_account(Scope.READ)
    with reading(app_state(request).engine) as connection:
        known = find_confirmation(connection, secret, "address")
    if known.account_id != account_id:
        raise Forbidden("This link belongs to another account. Sign in to that account, then open the link again.")
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
    """End all sessions, including the current one."""
    account_id = require_browser(principal)
    with writing(app_state(request).engine) as connection:
        ended = end_sessions(connection, account_id)
        principal.audit(connection, "session.end_all", f"account {principal.email}", sessions=ended)
    response = see_other("/sign-in?note=out")
    delete_cookie(response, request, SESSION_COOKIE)
    return response


@router.post("/account/sessions/{session_id}/end")
def end_session(
    request: Request, principal: CurrentPrincipal, session_id: Annotated[int, Path(ge=1, le=LARGEST_ID)]
) -> Response:
    """End one session: that of a lost or shared machine."""
    account_id = require_browser(principal)
    with writing(app_state(request).engine) as connection:
        end_one_session(connection, principal, account_id, session_id)
    return see_other("/account?note=ended#sessions")


@router.get("/account/delete")
def show_deletion(request: Request, principal: CurrentPrincipal) -> Response:
    """Show what deleting the own account takes away, and ask for confirmation."""
    return _deletion(request, principal)


@router.post("/account/delete")
def delete_own_account(
    request: Request, principal: CurrentPrincipal, typed: Annotated[str, Form(max_length=300)] = ""
) -> Response:
    """Delete the own account, if it was confirmed."""
    account_id = require_browser(principal)
    try:
        with form_errors(), writing(app_state(request).engine, durable=True) as connection:
            if typed.strip().casefold() != DELETION_PHRASE:
                raise BadRequest(f"Type {DELETION_PHRASE} to delete it.")
            delete_account(connection, principal, account_id, dry_run=False)
    except InvalidForm as invalid:
        return _deletion(request, principal, invalid)
    response = see_other("/sign-in?note=deleted")
    delete_cookie(response, request, SESSION_COOKIE)
    return response


@router.get("/account/tokens")
def show_tokens(request: Request, principal: CurrentPrincipal) -> Response:
    """Show the tokens, and a form to create one."""
    return page(request, "accounts/tokens", title=TOKENS, headers=NO_STORE, **_tokens(request, principal))


@router.post("/account/tokens")
def create_own_token(
    request: Request,
    principal: CurrentPrincipal,
    name: Annotated[str, Form()] = "",
    days: Annotated[str, Form()] = "",
    scopes: Annotated[list[str] | None, Form()] = None,
) -> Response:
    """Create a token and show it, once."""
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
        return form_with_error(request, "accounts/tokens", error, title=TOKENS, **_tokens(request, principal, **given))
    values = _tokens(request, principal, secret=secret)
    return page(request, "accounts/tokens", title=TOKENS, headers=NO_STORE, **values)


@router.post("/account/tokens/{token_id}/revoke")
def revoke(
    request: Request, principal: CurrentPrincipal, token_id: Annotated[int, Path(ge=1, le=LARGEST_ID)]
) -> Response:
    """Revoke a token."""
    account_id = principal.require_account(Scope.ORGANISE)
    with writing(app_state(request).engine) as connection:
        revoke_token(connection, principal, account_id, token_id)
    return see_other("/account/tokens")


def _deletion(request: Request, principal: Principal, invalid: InvalidForm | None = None) -> Response:
    account_id = require_browser(principal)
    try:
        with writing(app_state(request).engine) as connection:
            found = delete_account(connection, principal, account_id, dry_run=True)
    except Conflict as error:
        # It cannot be deleted yet; the account says why.
        values = _account(request, principal, "delete")
        return form_with_error(request, "accounts/account", error, title=TITLE, **values)
    crumbs = [(TITLE, "/account")]
    return deletion_page(request, found, word=DELETION_PHRASE, back="/account", invalid=invalid, crumbs=crumbs)


def _sent(state: State, principal: Principal, email: Email) -> Response:
    """Send the mail that confirms the address, and redirect to the account page with the outcome."""
    error = send_confirmation_to(state.engine, state.settings, email, principal.account_id)
    return see_other(f"/account?note={'refused' if error == REFUSED else 'unsent' if error else 'sent'}")


def _account(
    request: Request, principal: CurrentPrincipal, failed_form: str = "", *, note: str = "", **given: str
) -> dict[str, Any]:
    """Return the values of the template. `failed_form` names the form with an error."""
    account_id = principal.require_account(Scope.READ)
    state = app_state(request)
    with reading(state.engine) as connection:
        known = read_account(connection, account_id)
        sessions = list_sessions(connection, account_id)
        sent = is_sent(connection, account_id)
        identities = list_identities(connection, account_id)
    return {
        "account": known,
        "sessions": sessions,
        "identities": identities,
        "providers": state.settings.sign_in_with,
        "mails": state.settings.mail_url is not None,
        "note": NOTES.get(note, ""),
        "unsent": note in ("unsent", "refused"),
        "sent": sent,
        "failed_form": failed_form,
        "given": {"name": known.name, "email": known.email, **given},
        **({} if failed_form else {"error": None}),
    }


def _tokens(request: Request, principal: CurrentPrincipal, *, secret: str = "", **given: Any) -> dict[str, Any]:
    account_id = principal.require_account(Scope.READ)
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
        **({} if given else {"error": None}),
    }
