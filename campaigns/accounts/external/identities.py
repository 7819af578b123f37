"""Whose account an identity of a provider is, and who may link one to an account.

Nobody can take over an account: an unknown identity is linked to an account only by somebody who is signed in to it,
or by an address that a trusted provider calls verified and whose owner has confirmed it here, too. An account whose
address nobody has confirmed may have been created by somebody else, who knows its password.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlalchemy import delete, func, insert, select, update

from campaigns.accounts.accounts import MAX_NAME_LENGTH, add_account, normalize_email, read_account
from campaigns.accounts.external.provider import ExternalSignInFailed
from campaigns.errors import Conflict, NotFound
from models.schema.accounts import Account, LinkedIdentity
from models.schema.base import now
from models.schema.roles import SiteRole

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.accounts.external.provider import ExternalIdentity
    from campaigns.accounts.principal import Principal
    from runtime.sign_in_providers import SignInProvider


@dataclass(frozen=True, slots=True)
class LinkedIdentityInfo:
    """An identity that is linked to an account."""

    id: int
    issuer: str
    name: str
    created_at: float
    used_at: float | None


def account_of(
    connection: Connection,
    visitor: Principal,
    provider: SignInProvider,
    identity: ExternalIdentity,
    *,
    sign_up: bool,
) -> Principal:
    """Return the account that an identity signs in, linked or created if that is safe.

    Raises
    ------
    ExternalSignInFailed
        If the account is disabled, or there is none and none can be created, saying what to do.
    """
    row = connection.execute(
        select(LinkedIdentity.id, LinkedIdentity.account_id).where(
            LinkedIdentity.issuer == identity.issuer, LinkedIdentity.subject == identity.subject
        )
    ).one_or_none()
    if row is not None:
        connection.execute(update(LinkedIdentity).where(LinkedIdentity.id == row.id).values(used_at=now()))
        return _signed_in(connection, visitor, row.account_id)
    email = normalize_email(identity.email) if provider.trusted_email and identity.email else ""
    known = connection.execute(select(Account).where(Account.email == email)).one_or_none() if email else None
    if known is not None:
        if known.verified_at is None or known.disabled_at is not None:
            raise ExternalSignInFailed(
                f"There is an account with the address {email}, but nobody has confirmed the address yet, or it is "
                "disabled. Sign in with its password, confirm the address, and link the provider on the page of your "
                "account."
            )
        who = _signed_in(connection, visitor, known.id)
    elif not email:
        raise ExternalSignInFailed(
            f"This identity of {provider.title} is not linked to an account. Sign in with your password, or sign up; "
            f"then link {provider.title} on the page of your account."
        )
    elif not sign_up:
        raise ExternalSignInFailed(
            f"There is no account with the address {email}. New accounts require an invitation: open the link that you "
            f"received, then link {provider.title} on the page of your account."
        )
    else:
        name = (identity.name.strip() or email.partition("@")[0])[:MAX_NAME_LENGTH]
        actor = replace(visitor, email=email, name=name)
        made = add_account(connection, actor, email, name, verified=True, how=f"by signing in with {provider.title}")
        who = replace(actor, account_id=made, role=SiteRole.PARTICIPANT, verified=True)
    assert who.account_id is not None
    _link(connection, who, who.account_id, identity)
    return who


def link_identity(
    connection: Connection, principal: Principal, account_id: int, provider: SignInProvider, identity: ExternalIdentity
) -> None:
    """Link an identity to the account that is signed in.

    Raises
    ------
    Conflict
        If it is linked to another account.
    """
    known = connection.scalar(
        select(LinkedIdentity.account_id)
        .where(LinkedIdentity.issuer == identity.issuer, LinkedIdentity.subject == identity.subject)
        .with_for_update()
    )
    if known == account_id:
        return
    if known is not None:
        raise Conflict(
            f"This identity of {provider.title} is linked to another account. Sign in there and remove it first."
        )
    _link(connection, principal, account_id, identity)


def unlink_identity(connection: Connection, principal: Principal, account_id: int, identity_id: int) -> None:
    """Remove an identity from an account.

    Raises
    ------
    NotFound
        If the account has no such identity.
    Conflict
        If the account could not be signed in to any more.
    """
    # Two removals at once would each find the other identity.
    connection.execute(select(Account.id).where(Account.id == account_id).with_for_update())
    mine = LinkedIdentity.account_id == account_id
    row = connection.execute(select(LinkedIdentity).where(mine, LinkedIdentity.id == identity_id)).one_or_none()
    if row is None:
        raise NotFound("Your account has no such identity.")
    left = connection.scalar(select(func.count()).where(mine, LinkedIdentity.id != identity_id))
    if not left and not read_account(connection, account_id).has_password:
        raise Conflict(
            'It is the only way to sign in to your account. Set a password first, by "Forgot your password?".'
        )
    connection.execute(delete(LinkedIdentity).where(LinkedIdentity.id == identity_id))
    principal.audit(connection, "account.unlink", f"account {principal.email}", issuer=row.issuer)


def list_identities(connection: Connection, account_id: int) -> list[LinkedIdentityInfo]:
    """Return the identities of an account, the oldest first."""
    asked = select(LinkedIdentity).where(LinkedIdentity.account_id == account_id).order_by(LinkedIdentity.id)
    return [
        LinkedIdentityInfo(row.id, row.issuer, row.name, row.created_at, row.used_at)
        for row in connection.execute(asked)
    ]


def _link(connection: Connection, who: Principal, account_id: int, identity: ExternalIdentity) -> None:
    row = {"issuer": identity.issuer, "subject": identity.subject, "name": identity.name[:MAX_NAME_LENGTH]}
    connection.execute(insert(LinkedIdentity).values(**row, account_id=account_id, used_at=now()))
    who.audit(connection, "account.link", f"account {who.email}", issuer=identity.issuer)


def _signed_in(connection: Connection, visitor: Principal, account_id: int) -> Principal:
    known = read_account(connection, account_id)
    if known.disabled_at is not None:
        raise ExternalSignInFailed("Your account is disabled. Ask an administrator.")
    return replace(visitor, account_id=known.id, email=known.email, name=known.name, role=known.role)
