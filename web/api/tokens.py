"""Tokens: how programs act for an account."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, Field

from campaigns.accounts.permissions import require_browser
from campaigns.accounts.sessions import recognise
from campaigns.accounts.tokens import KnownToken, list_tokens, make_token, revoke_token
from models.database.session import reading, writing
from models.schema.roles import Scope
from web.api.paging import LARGEST_ID
from web.dependencies import Asking, state_of

router = APIRouter(tags=["tokens"])

TokenId = Annotated[int, Path(ge=1, le=LARGEST_ID)]


class TokenShown(BaseModel):
    """A token, without its secret. Times are in seconds since 1970."""

    id: int
    name: str
    scopes: list[Scope]
    created_at: float
    used_at: float | None = Field(description="When it was used last, to the minute.")
    expires_at: float | None
    revoked_at: float | None
    alive: bool = Field(description="Whether it is good now.")


class TokenWanted(BaseModel):
    """A token to be made."""

    name: str = Field(description="What it is for, such as the machine that has it.")
    scopes: list[str] = Field([Scope.READ, Scope.SUBMIT], max_length=20)
    days: int = Field(90, description="How long it is good.")
    email: str = Field("", max_length=1000, description="For programs that have no token yet: whose it is to be.")
    password: str = Field("", max_length=1000, description="The password of that account.")


class TokenMade(BaseModel):
    """A token with its secret, which nobody can show again."""

    id: int
    token: str


@router.get("/tokens")
def list_own_tokens(request: Request, principal: Asking) -> list[TokenShown]:
    """The tokens of the account, the newest first, also those that are over."""
    account_id = principal.require(Scope.READ)
    with reading(state_of(request).engine) as connection:
        return [shown_token(each) for each in list_tokens(connection, account_id)]


@router.post("/tokens", status_code=201)
def make_own_token(request: Request, principal: Asking, wanted: TokenWanted) -> TokenMade:
    """Make a token. A browser that is signed in may; a program gives address and password; a token may not."""
    state = state_of(request)
    settings = state.settings
    who = principal
    if wanted.email and not principal.signed_in:
        tries = settings.sign_in_tries
        who = recognise(state.engine, state.throttle, wanted.email, wanted.password, principal.address, tries)
        account_id = who.account_id
        assert account_id is not None
    else:
        account_id = require_browser(principal)
    with writing(state.engine) as connection:
        made = make_token(connection, who, account_id, wanted.name, wanted.scopes, wanted.days, settings.token_days)
    return TokenMade(id=made[0], token=made[1])


@router.delete("/tokens/{token_id}", status_code=204)
def revoke_own_token(request: Request, principal: Asking, token_id: TokenId) -> None:
    """Revoke a token of the account: it is good no more from now on."""
    account_id = principal.require(Scope.ORGANISE)
    with writing(state_of(request).engine) as connection:
        revoke_token(connection, principal, account_id, token_id)


def shown_token(known: KnownToken) -> TokenShown:
    """The token as it is shown."""
    return TokenShown(
        id=known.id,
        name=known.name,
        scopes=list(known.scopes),
        created_at=known.created_at,
        used_at=known.used_at,
        expires_at=known.expires_at,
        revoked_at=known.revoked_at,
        alive=known.alive,
    )
