"""The account of the principal: profile, password, sessions."""

from __future__ import annotations

from fastapi import APIRouter, Request

from campaigns.accounts.accounts import AccountInfo, check_name, read_account, rename_account
from campaigns.accounts.permissions import require_browser
from campaigns.accounts.sessions import SessionInfo, end_sessions, list_sessions
from campaigns.errors import BadRequest, Conflict, Unavailable
from campaigns.invitations.sign_up import change_address, change_password, request_address_confirmation
from campaigns.invitations.sign_up import send_confirmation as send_confirmation_to
from models.database.session import reading, writing
from models.schema.roles import Scope
from runtime.mail import NO_MAILS
from steelyard_client.documents.accounts.accounts import (
    AccountResponse,
    AccountUpdate,
    AccountUpdatedResponse,
    EndedSessionsResponse,
    PasswordUpdate,
    SessionResponse,
)
from steelyard_client.documents.document import utc
from steelyard_client.documents.paging import Page
from web.api.paging import After, Limit, slice_page
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["account"])


def account_response(known: AccountInfo) -> AccountResponse:
    """The response for an account."""
    return AccountResponse(
        id=known.id,
        email=known.email,
        name=known.name,
        role=known.role,
        has_password=known.has_password,
        verified_at=utc(known.verified_at),
        disabled_at=utc(known.disabled_at),
        created_at=utc(known.created_at),
    )


@router.get("/account")
def read_own_account(request: Request, principal: CurrentPrincipal) -> AccountResponse:
    """Read your own account."""
    account_id = principal.require_account(Scope.READ)
    with reading(app_state(request).engine) as connection:
        return account_response(read_account(connection, account_id))


@router.patch("/account")
def update_own_account(request: Request, principal: CurrentPrincipal, change: AccountUpdate) -> AccountUpdatedResponse:
    """Change your name or address. A new address requires the password, and must be confirmed again."""
    account_id = principal.require_account(Scope.ORGANISE)
    state = app_state(request)
    mailed, not_mailed = False, ""
    if change.name is not None:
        # Checked before the address changes: all or nothing.
        check_name(change.name)
    if change.email is not None:
        if change.password is None:
            raise BadRequest("A new address requires the password of the account.")
        email = change_address(state.engine, state.settings, state.throttle, principal, change.email, change.password)
        if email is not None:
            not_mailed = send_confirmation_to(state.engine, state.settings, email, account_id)
            mailed = not not_mailed
    with writing(state.engine) as connection:
        if change.name is not None:
            rename_account(connection, principal, account_id, change.name)
        known = read_account(connection, account_id)
    if known.email != principal.email and state.settings.mail_url is None:
        not_mailed = NO_MAILS
    return AccountUpdatedResponse(**account_response(known).model_dump(), mailed=mailed, not_mailed=not_mailed)


@router.put("/account/password")
def update_own_password(request: Request, principal: CurrentPrincipal, change: PasswordUpdate) -> EndedSessionsResponse:
    """Change your password. All other sessions are ended; tokens stay valid until they are revoked."""
    principal.require(Scope.ORGANISE)
    state = app_state(request)
    tries = state.settings.sign_in_tries
    ended = change_password(state.engine, state.throttle, principal, change.old, change.new, tries)
    return EndedSessionsResponse(ended=ended)


@router.post("/account/confirmation", status_code=202)
def send_confirmation(request: Request, principal: CurrentPrincipal) -> None:
    """Send a mail with a link that confirms the address of your account."""
    account_id = principal.require_account(Scope.ORGANISE)
    state = app_state(request)
    if state.settings.mail_url is None:
        raise Conflict("This server sends no mail. An administrator can confirm your address.")
    email = request_address_confirmation(state.engine, state.settings, state.throttle, account_id, principal.email)
    if fault := send_confirmation_to(state.engine, state.settings, email, account_id):
        raise Unavailable(f"The mail was not sent. {fault}")


@router.get("/account/sessions")
def list_own_sessions(
    request: Request, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[SessionResponse]:
    """List your browser sessions, the last used first."""
    account_id = principal.require_account(Scope.READ)
    with reading(app_state(request).engine) as connection:
        found, following = slice_page(list_sessions(connection, account_id), limit, after)
    return Page(items=[_session_response(each, principal.session_id) for each in found], next=following)


@router.delete("/account/sessions")
def end_own_sessions(request: Request, principal: CurrentPrincipal) -> EndedSessionsResponse:
    """End all your browser sessions, the current one included."""
    account_id = require_browser(principal)
    with writing(app_state(request).engine) as connection:
        ended = end_sessions(connection, account_id)
        principal.audit(connection, "session.end_all", f"account {principal.email}", sessions=ended)
    return EndedSessionsResponse(ended=ended)


def _session_response(known: SessionInfo, own: int | None) -> SessionResponse:
    return SessionResponse(
        id=known.id, created_at=utc(known.created_at), seen_at=utc(known.seen_at), this=known.id == own
    )
