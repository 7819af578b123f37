"""All accounts of the server, for administrators."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field

from campaigns.accounts.accounts import add_account, list_accounts, read_account, set_disabled, set_role, set_verified
from campaigns.accounts.confirmations import hand_out_password_link
from campaigns.accounts.permissions import require_administrator
from campaigns.accounts.sessions import end_sessions
from campaigns.invitations.email_texts import password_link
from models.database.session import reading, writing
from models.schema.roles import Scope, SiteRole
from web.api.account import AccountShown, Ended, shown_account
from web.api.paging import LARGEST_ID, After, Limit, Paged, id_after, in_pages
from web.dependencies import Asking, state_of

router = APIRouter(tags=["accounts"])

AccountId = Annotated[int, Path(ge=1, le=LARGEST_ID)]


class AccountWanted(BaseModel):
    """An account to be made. Its owner sets the password by a link (`/accounts/{account_id}/password-link`)."""

    email: str = Field(max_length=1000)
    name: str = Field(max_length=1000)
    role: SiteRole = SiteRole.PARTICIPANT


class RightsChange(BaseModel):
    """What is to be different; what is left out stays."""

    role: SiteRole | None = None
    disabled: bool | None = None
    verified: bool | None = Field(None, description="True to vouch for the address; it cannot be taken back.")


class Link(BaseModel):
    """A link to hand on. It is good once, and nobody can show it again."""

    link: str


@router.get("/accounts")
def list_all_accounts(
    request: Request,
    principal: Asking,
    search: Annotated[str, Query(max_length=200)] = "",
    limit: Limit = 50,
    after: After = "",
) -> Paged[AccountShown]:
    """All accounts in the order in which they were made; `search` looks into names and addresses."""
    require_administrator(principal, Scope.READ)
    with reading(state_of(request).engine) as connection:
        found = list_accounts(connection, after=id_after(after), limit=limit, search=search)
    return Paged[AccountShown](**in_pages(found, limit, shown_account))


@router.post("/accounts", status_code=201)
def make_account(request: Request, principal: Asking, wanted: AccountWanted) -> AccountShown:
    """Make an account without a password."""
    require_administrator(principal)
    with writing(state_of(request).engine) as connection:
        made = add_account(
            connection, principal, wanted.email, wanted.name, role=wanted.role, how="by an administrator"
        )
        return shown_account(read_account(connection, made))


@router.get("/accounts/{account_id}")
def read_one_account(request: Request, principal: Asking, account_id: AccountId) -> AccountShown:
    """One account."""
    require_administrator(principal, Scope.READ)
    with reading(state_of(request).engine) as connection:
        return shown_account(read_account(connection, account_id))


@router.patch("/accounts/{account_id}")
def change_one_account(
    request: Request, principal: Asking, account_id: AccountId, change: RightsChange
) -> AccountShown:
    """Change what an account may do, or whether it may do anything."""
    require_administrator(principal)
    with writing(state_of(request).engine) as connection:
        if change.role is not None:
            set_role(connection, principal, account_id, change.role)
        if change.disabled is not None:
            set_disabled(connection, principal, account_id, change.disabled)
        if change.verified:
            set_verified(connection, principal, account_id)
        return shown_account(read_account(connection, account_id))


@router.post("/accounts/{account_id}/password-link", status_code=201)
def make_password_link(request: Request, principal: Asking, account_id: AccountId) -> Link:
    """A link by which the owner of an account sets a new password, to be handed on where no mail can bring it."""
    require_administrator(principal)
    state = state_of(request)
    with writing(state.engine) as connection:
        secret = hand_out_password_link(connection, principal, account_id, state.settings.confirmation_seconds)
    return Link(link=password_link(state.settings, secret))


@router.delete("/accounts/{account_id}/sessions")
def end_all_sessions(request: Request, principal: Asking, account_id: AccountId) -> Ended:
    """Sign an account out in all browsers."""
    require_administrator(principal)
    with writing(state_of(request).engine) as connection:
        known = read_account(connection, account_id)
        ended = end_sessions(connection, account_id)
        principal.audit(connection, "session.end_all", f"account {known.email}", sessions=ended)
    return Ended(ended=ended)
