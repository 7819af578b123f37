"""One's own account."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from campaigns.accounts.accounts import KnownAccount, check_name, read_account, rename
from campaigns.accounts.mail import NO_MAILS, send
from campaigns.accounts.permissions import require_browser
from campaigns.accounts.sessions import KnownSession, end_sessions, list_sessions
from campaigns.errors import BadRequest, Taken, Unavailable
from campaigns.invitations.sign_up import ask_for_address, change_address, change_password
from models.database.session import reading, writing
from models.schema.roles import Scope, SiteRole
from web.dependencies import Asking, state_of

router = APIRouter(tags=["account"])

Password = Field(max_length=1000, description="Ten to two hundred characters.")


class AccountShown(BaseModel):
    """An account. Times are in seconds since 1970."""

    id: int
    email: str
    name: str
    role: SiteRole
    verified_at: float | None = Field(description="When the address was confirmed.")
    disabled_at: float | None
    created_at: float


class AccountChanged(AccountShown):
    """The account as it is now, and whether a new address was written to."""

    mailed: bool = Field(description="Whether the mail server has taken a mail with a link that confirms the address.")
    not_mailed: str = Field(description='Why the new address got no mail; "" where it did, or where there is none.')


class AccountChange(BaseModel):
    """What is to be different; what is left out stays."""

    name: str | None = None
    email: str | None = None
    password: str | None = Field(None, max_length=1000, description="The password, for another address.")


class PasswordChange(BaseModel):
    """The password as it was, and as it is to be."""

    old: str = Password
    new: str = Password


class SessionShown(BaseModel):
    """A browser in which the account is signed in."""

    id: int
    created_at: float
    seen_at: float
    this: bool = Field(description="Whether it is the one that asks.")


class Ended(BaseModel):
    """How many sessions have ended."""

    ended: int


def shown_account(known: KnownAccount) -> AccountShown:
    """The account as it is shown."""
    return AccountShown(
        id=known.id,
        email=known.email,
        name=known.name,
        role=known.role,
        verified_at=known.verified_at,
        disabled_at=known.disabled_at,
        created_at=known.created_at,
    )


@router.get("/account")
def read_own_account(request: Request, principal: Asking) -> AccountShown:
    """The account of whoever asks."""
    account_id = principal.require(Scope.READ)
    with reading(state_of(request).engine) as connection:
        return shown_account(read_account(connection, account_id))


@router.patch("/account")
def change_own_account(request: Request, principal: Asking, change: AccountChange) -> AccountChanged:
    """Change name or address. Another address wants the password, and has to be confirmed anew."""
    account_id = principal.require(Scope.ORGANISE)
    state = state_of(request)
    mailed, not_mailed = False, ""
    if change.name is not None:
        # Before the address is changed: all or nothing.
        check_name(change.name)
    if change.email is not None:
        if change.password is None:
            raise BadRequest("Another address wants the password of the account.")
        letter = change_address(state.engine, state.settings, state.throttle, principal, change.email, change.password)
        if letter is not None:
            not_mailed = send(state.settings, letter)
            mailed = not not_mailed
    with writing(state.engine) as connection:
        if change.name is not None:
            rename(connection, principal, account_id, change.name)
        known = read_account(connection, account_id)
    if known.email != principal.email and state.settings.mail_url is None:
        not_mailed = NO_MAILS
    return AccountChanged(**shown_account(known).model_dump(), mailed=mailed, not_mailed=not_mailed)


@router.put("/account/password")
def change_own_password(request: Request, principal: Asking, change: PasswordChange) -> Ended:
    """Change the password. All other browsers are signed out; tokens stay good until they are revoked."""
    principal.require(Scope.ORGANISE)
    state = state_of(request)
    tries = state.settings.sign_in_tries
    ended = change_password(state.engine, state.throttle, principal, change.old, change.new, tries)
    return Ended(ended=ended)


@router.post("/account/confirmation", status_code=202)
def send_confirmation(request: Request, principal: Asking) -> None:
    """Send a mail with a link that confirms the address of the account."""
    account_id = principal.require(Scope.ORGANISE)
    state = state_of(request)
    if state.settings.mail_url is None:
        raise Taken("This server sends no mails. An administrator can vouch for your address.")
    if fault := send(
        state.settings, ask_for_address(state.engine, state.settings, state.throttle, account_id, principal.email)
    ):
        raise Unavailable(f"The mail was not sent. {fault}")


@router.get("/account/sessions")
def list_own_sessions(request: Request, principal: Asking) -> list[SessionShown]:
    """The browsers in which the account is signed in, the last used one first."""
    account_id = principal.require(Scope.READ)
    with reading(state_of(request).engine) as connection:
        return [_session(each, principal.session_id) for each in list_sessions(connection, account_id)]


@router.delete("/account/sessions")
def end_own_sessions(request: Request, principal: Asking) -> Ended:
    """Sign out in all browsers, this one included."""
    account_id = require_browser(principal)
    with writing(state_of(request).engine) as connection:
        ended = end_sessions(connection, account_id)
        principal.audit(connection, "session.end_all", f"account {principal.email}", sessions=ended)
    return Ended(ended=ended)


def _session(known: KnownSession, own: int | None) -> SessionShown:
    return SessionShown(id=known.id, created_at=known.created_at, seen_at=known.seen_at, this=known.id == own)
