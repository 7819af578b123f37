"""Single-use links sent to an address, which confirm it or allow setting a new password."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlalchemy import delete, func, insert, select, update

from campaigns.accounts.accounts import read_account, revoke_links
from campaigns.accounts.secrets import hash_of, new_secret
from campaigns.accounts.sessions import end_sessions
from campaigns.errors import Conflict, Forbidden, NotFound
from models.schema.accounts import Account, ApiToken, Confirmation, Invitation
from models.schema.base import now

if TYPE_CHECKING:
    from typing import Any

    from sqlalchemy import Connection, Select

    from campaigns.accounts.principal import Principal

Purpose = Literal["address", "password"]

USED_UP = "This link has been used, has expired or is incomplete. Request a new one."


@dataclass(frozen=True, slots=True)
class ConfirmationInfo:
    """The account that a link belongs to."""

    id: int
    account_id: int
    email: str
    name: str
    sent_to: str
    """The address to which it was sent; "" if an administrator passed it on."""


def make_confirmation(
    connection: Connection, account_id: int, purpose: Purpose, seconds: float, *, sent_to: str = ""
) -> str:
    """Create a link for an account and return its secret. Revokes earlier links for the same purpose."""
    connection.execute(
        delete(Confirmation).where(Confirmation.account_id == account_id, Confirmation.purpose == purpose)
    )
    secret = new_secret()
    row = {"secret_hash": hash_of(secret), "account_id": account_id, "purpose": purpose, "email": sent_to}
    connection.execute(insert(Confirmation).values(**row, expires_at=now() + seconds))
    return secret


def find_confirmation(connection: Connection, secret: str, purpose: Purpose) -> ConfirmationInfo:
    """Return the account that a valid link belongs to.

    Raises
    ------
    NotFound
        If it is used or expired.
    """
    row = connection.execute(_valid_confirmation(secret, purpose)).one_or_none()
    if row is None:
        raise NotFound(USED_UP)
    return ConfirmationInfo(row.id, row.account_id, row.email, row.name, row.sent_to)


def is_sent(connection: Connection, account_id: int) -> bool:
    """Whether a link that confirms the address of an account went out by mail and is good."""
    mine = Confirmation.account_id == account_id, Confirmation.purpose == "address", Confirmation.used_at.is_(None)
    found = select(Confirmation.id).where(*mine, Confirmation.expires_at > now())
    return connection.execute(found).first() is not None


def confirm_address(connection: Connection, principal: Principal, secret: str) -> None:
    """Confirm the address of the signed-in account.

    The account must be signed in: signing up with a stranger's address gains nothing when the stranger opens the link.

    Raises
    ------
    NotFound
        If it does not exist.
    Forbidden
        If the caller lacks the permission.
    """
    known = find_confirmation(connection, secret, "address")
    if known.account_id != principal.account_id:
        raise Forbidden("This link belongs to another account. Sign in to that account, then open the link again.")
    _mark_used(connection, known)
    connection.execute(
        update(Account).where(Account.id == known.account_id, Account.verified_at.is_(None)).values(verified_at=now())
    )
    principal.audit(connection, "account.verify", f"account {known.email}")


def set_password_by_link(
    connection: Connection, anybody: Principal, secret: str, password_hash: str
) -> ConfirmationInfo:
    """Set the password of the account that a link belongs to, and revoke all its sessions and tokens.

    Also ends its pending invitations: whoever knew the old password may have made them for themselves. A link that came
    by mail confirms the address.

    Raises
    ------
    NotFound
        If it does not exist.
    """
    known = find_confirmation(connection, secret, "password")
    _mark_used(connection, known)
    revoke_links(connection, known.account_id, "password")
    theirs = Invitation.made_by == known.account_id, Invitation.used_at.is_(None), Invitation.expires_at > now()
    connection.execute(update(Invitation).where(*theirs).values(expires_at=now()))
    values: dict[str, Any] = {"password_hash": password_hash}
    if known.sent_to:
        values["verified_at"] = func.coalesce(Account.verified_at, now())
    connection.execute(update(Account).where(Account.id == known.account_id).values(**values))
    end_sessions(connection, known.account_id)
    alive = ApiToken.account_id == known.account_id, ApiToken.revoked_at.is_(None)
    connection.execute(update(ApiToken).where(*alive).values(revoked_at=now()))
    anybody.audit(connection, "account.password", f"account {known.email}", how="by a link")
    return known


def issue_password_link(connection: Connection, actor: Principal, account_id: int, seconds: float) -> str:
    """Create a password link for an administrator to pass on; its secret.

    Raises
    ------
    Forbidden
        If the caller lacks the permission.
    NotFound
        If it does not exist.
    Conflict
        If it contradicts what is stored.
    """
    if not actor.administrates:
        raise Forbidden("Only administrators may do that.")
    known = read_account(connection, account_id)
    if known.disabled_at is not None:
        raise Conflict(f"The account {known.email} is disabled. Enable it first.")
    actor.audit(connection, "account.password_link", f"account {known.email}")
    return make_confirmation(connection, account_id, "password", seconds)


def _valid_confirmation(secret: str, purpose: Purpose) -> Select[int, int, str, str, str]:
    return (
        select(
            Confirmation.id,
            Confirmation.account_id,
            Confirmation.email.label("sent_to"),
            Account.email,
            Account.name,
        )
        .join(Account, Account.id == Confirmation.account_id)
        .where(
            Confirmation.secret_hash == hash_of(secret),
            Confirmation.purpose == purpose,
            Confirmation.used_at.is_(None),
            Confirmation.expires_at > now(),
            Account.disabled_at.is_(None),
            # Links that an administrator passed on were sent to no address.
            Confirmation.email.in_(("", Account.email)),
        )
    )


def _mark_used(connection: Connection, known: ConfirmationInfo) -> None:
    unused = Confirmation.id == known.id, Confirmation.used_at.is_(None)
    if connection.execute(update(Confirmation).where(*unused).values(used_at=now())).rowcount != 1:
        raise NotFound(USED_UP)
