"""All accounts of the server. For administrators."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from campaigns.accounts.accounts import (
    add_account,
    find_account,
    list_accounts,
    read_account,
    set_disabled,
    set_password,
    set_role,
    set_verified,
)
from campaigns.accounts.confirmations import issue_password_link
from campaigns.accounts.permissions import require_administrator
from campaigns.accounts.sessions import end_sessions
from campaigns.deletion.accounts import delete_account
from campaigns.invitations.email_texts import password_link
from campaigns.invitations.sign_up import hash_checked_password
from models.database.session import reading, writing
from models.schema.roles import Scope
from steelyard_client.documents.accounts.accounts import (
    AccountCreate,
    AccountPasswordUpdate,
    AccountResponse,
    AccountRightsUpdate,
    EndedSessionsResponse,
    PasswordLinkResponse,
)
from steelyard_client.documents.campaigns.deletions import DeletionResponse
from steelyard_client.documents.paging import Page
from web.api.accounts.account import account_response
from web.api.deletions import DryRun, deletion_response
from web.api.paging import LARGEST_ID, After, Limit, make_page, parse_cursor
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["accounts"])

AccountId = Annotated[int, Path(ge=1, le=LARGEST_ID)]


@router.get("/accounts", name="list_accounts")
def list_all_accounts(
    request: Request,
    principal: CurrentPrincipal,
    search: Annotated[str, Query(max_length=200)] = "",
    email: Annotated[str, Query(max_length=1000)] = "",
    limit: Limit = 50,
    after: After = "",
) -> Page[AccountResponse]:
    """List all accounts, oldest first; `search` filters by name and address, `email` finds one by its address."""
    require_administrator(principal, Scope.READ)
    with reading(app_state(request).engine) as connection:
        if email:
            return Page(items=[account_response(find_account(connection, email))], next=None)
        found = list_accounts(connection, after=parse_cursor(after), limit=limit, search=search)
    return Page[AccountResponse](**make_page(found, limit, account_response))


@router.post("/accounts", status_code=201)
def create_account(request: Request, principal: CurrentPrincipal, new: AccountCreate) -> AccountResponse:
    """Create an account, with a password or without one."""
    require_administrator(principal)
    stored = hash_checked_password(new.password, email=new.email, name=new.name) if new.password else None
    with writing(app_state(request).engine) as connection:
        account_id = add_account(
            *(connection, principal, new.email, new.name),
            password_hash=stored,
            role=new.role,
            verified=new.verified,
            how="by an administrator",
        )
        return account_response(read_account(connection, account_id))


@router.get("/accounts/{account_id}", name="read_account")
def read_one_account(request: Request, principal: CurrentPrincipal, account_id: AccountId) -> AccountResponse:
    """Read an account."""
    require_administrator(principal, Scope.READ)
    with reading(app_state(request).engine) as connection:
        return account_response(read_account(connection, account_id))


@router.patch("/accounts/{account_id}")
def update_account(
    request: Request, principal: CurrentPrincipal, account_id: AccountId, change: AccountRightsUpdate
) -> AccountResponse:
    """Change the role of an account, disable or enable it, or confirm its address."""
    require_administrator(principal)
    with writing(app_state(request).engine) as connection:
        if change.role is not None:
            set_role(connection, principal, account_id, change.role)
        if change.disabled is not None:
            set_disabled(connection, principal, account_id, change.disabled)
        if change.verified:
            set_verified(connection, principal, account_id)
        return account_response(read_account(connection, account_id))


@router.delete("/accounts/{account_id}", name="delete_account")
def delete_one_account(
    request: Request, principal: CurrentPrincipal, account_id: AccountId, dry_run: DryRun = False
) -> DeletionResponse:
    """Delete an account; with `dry_run`, say what would be deleted. What it did stays, without its name."""
    with writing(app_state(request).engine, durable=True) as connection:
        return deletion_response(delete_account(connection, principal, account_id, dry_run=dry_run), dry_run=dry_run)


@router.put("/accounts/{account_id}/password")
def update_account_password(
    request: Request, principal: CurrentPrincipal, account_id: AccountId, change: AccountPasswordUpdate
) -> EndedSessionsResponse:
    """Set the password of an account and end its sessions."""
    require_administrator(principal)
    engine = app_state(request).engine
    with reading(engine) as connection:
        known = read_account(connection, account_id)
    stored = hash_checked_password(change.password, email=known.email, name=known.name)
    with writing(engine) as connection:
        return EndedSessionsResponse(ended=set_password(connection, principal, account_id, stored))


@router.post("/accounts/{account_id}/password-link", status_code=201)
def create_password_link(request: Request, principal: CurrentPrincipal, account_id: AccountId) -> PasswordLinkResponse:
    """Create a link with which the owner of an account sets a new password, for servers without mail."""
    require_administrator(principal)
    state = app_state(request)
    with writing(state.engine) as connection:
        secret = issue_password_link(connection, principal, account_id, state.settings.confirmation_seconds)
    return PasswordLinkResponse(link=password_link(state.settings, secret), seconds=state.settings.confirmation_seconds)


@router.delete("/accounts/{account_id}/sessions")
def end_account_sessions(request: Request, principal: CurrentPrincipal, account_id: AccountId) -> EndedSessionsResponse:
    """End all browser sessions of an account."""
    require_administrator(principal)
    with writing(app_state(request).engine) as connection:
        known = read_account(connection, account_id)
        ended = end_sessions(connection, account_id)
        principal.audit(connection, "session.end_all", f"account {known.email}", sessions=ended)
    return EndedSessionsResponse(ended=ended)
