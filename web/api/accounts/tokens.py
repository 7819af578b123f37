"""Access tokens, with which programs act for an account."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request

from campaigns.accounts.accounts import read_account
from campaigns.accounts.permissions import require_administrator, require_browser
from campaigns.accounts.sessions import authenticate
from campaigns.accounts.tokens import TokenInfo, list_tokens, make_token, revoke_token
from campaigns.errors import Forbidden
from models.database.session import reading, writing
from models.schema.roles import Scope
from steelyard_client.documents.accounts.tokens import (
    AccountTokenCreate,
    TokenCreate,
    TokenCreatedResponse,
    TokenResponse,
)
from steelyard_client.documents.document import utc
from steelyard_client.documents.paging import Page
from web.api.paging import LARGEST_ID, After, Limit, slice_page
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["tokens"])

AccountId = Annotated[int, Path(ge=1, le=LARGEST_ID)]
TokenId = Annotated[int, Path(ge=1, le=LARGEST_ID)]


@router.get("/tokens")
def list_own_tokens(
    request: Request, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[TokenResponse]:
    """List your tokens, newest first, expired and revoked ones included."""
    account_id = principal.require_account(Scope.READ)
    with reading(app_state(request).engine) as connection:
        found, following = slice_page(list_tokens(connection, account_id), limit, after)
    return Page(items=[token_response(each) for each in found], next=following)


@router.post("/tokens", status_code=201)
def create_token(request: Request, principal: CurrentPrincipal, new: TokenCreate) -> TokenCreatedResponse:
    """Create a token: from a signed-in browser, or with address and password. A token cannot create tokens."""
    state = app_state(request)
    settings = state.settings
    owner = principal
    if new.email and not principal.signed_in:
        tries = settings.sign_in_tries
        owner = authenticate(state.engine, state.throttle, new.email, new.password, principal.address, tries)
        account_id = owner.account_id
        assert account_id is not None
    else:
        account_id = require_browser(principal)
    with writing(state.engine) as connection:
        token_id, secret = make_token(
            connection, owner, account_id, new.name, new.scopes, new.days, settings.token_days
        )
    return TokenCreatedResponse(id=token_id, token=secret)


@router.delete("/tokens/{token_id}", status_code=204)
def revoke_own_token(request: Request, principal: CurrentPrincipal, token_id: TokenId) -> None:
    """Revoke one of your tokens."""
    account_id = principal.require_account(Scope.ORGANISE)
    with writing(app_state(request).engine) as connection:
        revoke_token(connection, principal, account_id, token_id)


@router.get("/accounts/{account_id}/tokens", name="list_account_tokens")
def list_tokens_of_account(
    request: Request, principal: CurrentPrincipal, account_id: AccountId, limit: Limit = 50, after: After = ""
) -> Page[TokenResponse]:
    """List the tokens of an account, newest first. For administrators."""
    require_administrator(principal, Scope.READ)
    with reading(app_state(request).engine) as connection:
        known = read_account(connection, account_id)
        found, following = slice_page(list_tokens(connection, known.id), limit, after)
    return Page(items=[token_response(each) for each in found], next=following)


@router.post("/accounts/{account_id}/tokens", status_code=201)
def create_account_token(
    request: Request, principal: CurrentPrincipal, account_id: AccountId, new: AccountTokenCreate
) -> TokenCreatedResponse:
    """Create a token for an account. For administrators with a browser; a token cannot create tokens."""
    require_administrator(principal)
    if principal.token_id is not None:
        raise Forbidden("A token cannot create tokens. Sign in with a browser, or use the database.")
    state = app_state(request)
    with writing(state.engine) as connection:
        known = read_account(connection, account_id)
        token_id, secret = make_token(
            connection, principal, known.id, new.name, new.scopes, new.days, state.settings.token_days
        )
    return TokenCreatedResponse(id=token_id, token=secret)


@router.delete("/accounts/{account_id}/tokens/{token_id}", status_code=204)
def revoke_account_token(
    request: Request, principal: CurrentPrincipal, account_id: AccountId, token_id: TokenId
) -> None:
    """Revoke a token of an account. For administrators."""
    require_administrator(principal)
    with writing(app_state(request).engine) as connection:
        revoke_token(connection, principal, account_id, token_id)


def token_response(known: TokenInfo) -> TokenResponse:
    """The response for a token."""
    return TokenResponse(
        id=known.id,
        name=known.name,
        scopes=list(known.scopes),
        created_at=utc(known.created_at),
        used_at=utc(known.used_at),
        expires_at=utc(known.expires_at),
        revoked_at=utc(known.revoked_at),
        alive=known.alive,
    )
