"""API tokens, by which programs act for an account."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import func, insert, select, update

from campaigns.accounts.accounts import check_name
from campaigns.accounts.secrets import hash_of, new_secret
from campaigns.errors import BadRequest, Conflict, NotFound
from models.schema.accounts import Account, ApiToken
from models.schema.base import now
from models.schema.column_types import UNREADABLE, read_as, readable
from models.schema.roles import Scope

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from campaigns.accounts.principal import Principal

PREFIX = "sty_"
"""Prefix of tokens, by which people and source code scanners recognise one."""
MAX_TOKENS = 50
DAY_SECONDS = 86400.0


@dataclass(frozen=True, slots=True)
class TokenInfo:
    """A token without its secret, which only its owner has."""

    id: int
    name: str
    scopes: tuple[Scope, ...]
    created_at: float
    used_at: float | None
    expires_at: float | None
    revoked_at: float | None
    alive: bool


def make_token(
    connection: Connection,
    actor: Principal,
    account_id: int,
    name: str,
    scopes: Iterable[str],
    days: int,
    longest_days: int,
) -> tuple[int, str]:
    """Create a token; its id, and its secret, which is shown only once.

    Raises
    ------
    BadRequest
        If a value is invalid.
    Conflict
        If it contradicts what is stored.
    """
    name, chosen = check_name(name), check_scopes(scopes)
    if not 1 <= days <= longest_days:
        raise BadRequest(f"A token can be valid for 1 to {longest_days} days, not for {days}.")
    # Locks the account, so that concurrent requests count its tokens one after the other.
    mine = select(Account.email).where(Account.id == account_id).with_for_update()
    email = connection.execute(mine).scalar_one()
    alive = ApiToken.account_id == account_id, ApiToken.revoked_at.is_(None), ApiToken.expires_at > now()
    if connection.execute(select(func.count()).where(*alive)).scalar_one() >= MAX_TOKENS:
        raise Conflict(f"The account has {MAX_TOKENS} tokens. Revoke an unused one.")
    secret = new_secret(PREFIX)
    row = {"secret_hash": hash_of(secret), "account_id": account_id, "name": name, "scopes": chosen}
    made = insert(ApiToken).values(**row, expires_at=now() + days * DAY_SECONDS).returning(ApiToken.id)
    token_id = int(connection.execute(made).scalar_one())
    subject = f"token {token_id} of account {email}"
    actor.audit(connection, "token.make", subject, name=name, scopes=chosen, days=days)
    return token_id, secret


def check_scopes(scopes: Iterable[str]) -> list[Scope]:
    """Return the scopes of a token, each once.

    Raises
    ------
    BadRequest
        If a value is invalid.
    """
    known = [each.value for each in Scope]
    given = list(scopes)
    if unknown := [each for each in given if each not in known]:
        raise BadRequest(f"There is no scope {unknown[0][:40]!r}. There are: {', '.join(known)}.")
    if not given:
        raise BadRequest(f"A token needs at least one of these scopes: {', '.join(known)}.")
    return [each for each in Scope if each.value in given]


def list_tokens(connection: Connection, account_id: int) -> list[TokenInfo]:
    """Return the tokens of an account, newest first, including expired and revoked ones."""
    alive = ApiToken.revoked_at.is_(None) & (ApiToken.expires_at.is_(None) | (ApiToken.expires_at > now()))
    asked = select(ApiToken, alive.label("alive")).where(ApiToken.account_id == account_id)
    return [
        TokenInfo(
            row.id,
            row.name,
            tuple(read_as(Scope, each) for each in readable(row.scopes, UNREADABLE)),
            row.created_at,
            row.used_at,
            row.expires_at,
            row.revoked_at,
            bool(row.alive),
        )
        for row in connection.execute(asked.order_by(ApiToken.id.desc()))
    ]


def revoke_token(connection: Connection, actor: Principal, account_id: int, token_id: int) -> None:
    """Revoke a token of an account.

    Raises
    ------
    NotFound
        If the account has no token with that id.
    """
    mine = ApiToken.id == token_id, ApiToken.account_id == account_id
    row = connection.execute(select(ApiToken.name, ApiToken.revoked_at, Account.email).join(Account).where(*mine))
    found = row.one_or_none()
    if found is None:
        raise NotFound(f"You have no token {token_id}.")
    if found.revoked_at is None:
        connection.execute(update(ApiToken).where(*mine).values(revoked_at=now()))
        actor.audit(connection, "token.revoke", f"token {token_id} of account {found.email}", name=found.name)
