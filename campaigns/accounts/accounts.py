"""Accounts and their roles on the whole server."""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.errors import MessageError
from email.headerregistry import Address
from typing import TYPE_CHECKING, Any

import idna
from sqlalchemy import delete, func, or_, select, update

from campaigns.errors import BadRequest, Conflict, Forbidden, NotFound
from campaigns.fields.short_text import short_text
from models.database.upsert import insert_new
from models.schema.accounts import Account, Confirmation, WebSession
from models.schema.base import now
from models.schema.roles import SiteRole

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

    from campaigns.accounts.principal import Principal

MAX_EMAIL_LENGTH, MAX_LOCAL_LENGTH, MAX_NAME_LENGTH = 254, 64, 100
_LOCAL = re.compile(r"[a-z0-9#$&'*+/=?^_`{|}~-]+(?:\.[a-z0-9#$&'*+/=?^_`{|}~-]+)*")
"""The part before the @, without `!` and `%`, which old mail servers use to forward to another domain."""
_NUMBERS = re.compile(r"[\d.]+|0x.*")
ENCODED_WORD = "=?"
"""Starts what mail programs decode to other characters, an @ among them."""


class AddressTaken(Conflict):
    """An account with this address exists already."""


class Unconfirmed(Conflict):
    """Nobody has confirmed the address of this account."""


@dataclass(frozen=True, slots=True)
class AccountInfo:
    """An account as administrators see it."""

    id: int
    email: str
    name: str
    role: SiteRole
    has_password: bool
    verified_at: float | None
    disabled_at: float | None
    created_at: float
    claimed: bool = False
    """Whether only its owner has said that the address is theirs."""

    def require_owner(self) -> None:
        """Raise Unconfirmed unless it is known that the account belongs to the owner of the address."""
        if self.claimed and self.verified_at is None:
            raise Unconfirmed(
                f"Nobody has confirmed the address {self.email}: somebody else may have created the account. Send "
                "an invitation, or ask an administrator to confirm the address."
            )


def normalize_email(text: str) -> str:
    """Normalize an e-mail address for storage: case-folded, its domain as used in DNS (`xn--...`).

    Python's own parser, by which mails are sent, must find exactly this address: no quotes, comments, encoded words or
    IP addresses, which other programs take for another address.

    Raises
    ------
    BadRequest
        For an invalid address.
    """
    email = text.strip()
    wrong = BadRequest(f"{email[:80]!a} is not an e-mail address such as mary@example.org.")
    if len(email) > MAX_EMAIL_LENGTH:
        raise wrong
    local, _, domain = email.casefold().rpartition("@")
    try:
        domain = idna.encode(domain, uts46=True, std3_rules=True).decode()
        folded = f"{local}@{domain}"
        parsed = Address(addr_spec=folded).addr_spec
    except (ValueError, MessageError) as error:
        raise wrong from error
    odd = not _LOCAL.fullmatch(local) or ENCODED_WORD in local or _NUMBERS.fullmatch(domain) or domain.endswith(".")
    if odd or parsed != folded or len(local) > MAX_LOCAL_LENGTH or len(folded) > MAX_EMAIL_LENGTH:
        raise wrong
    return folded


def check_name(text: str) -> str:
    """Return a person's name, stripped.

    Raises
    ------
    BadRequest
        If a value is invalid.
    """
    return short_text(text, "The name", MAX_NAME_LENGTH, shortest=1)


def add_account(
    connection: Connection,
    actor: Principal,
    email: str,
    name: str,
    *,
    password_hash: str | None = None,
    role: SiteRole = SiteRole.PARTICIPANT,
    verified: bool = False,
    claimed: bool = False,
    how: str = "",
) -> int:
    """Create an account and return its id.

    `password_hash` is None where no password is set yet, `verified` says whether the address is confirmed, `claimed`
    whether nobody but its owner says that the address is theirs, and `how`, for the audit log, how the account came
    about.

    Raises
    ------
    BadRequest
        For an invalid address or name.
    AddressTaken
        If an account or its address exists already.
    """
    email, name = normalize_email(email), check_name(name)
    row = {"email": email, "name": name, "password_hash": password_hash, "role": role}
    made = insert_new(connection, Account, {**row, "verified_at": now() if verified else None, "claimed": claimed})
    if made is None:
        raise AddressTaken(f"There is already an account with the address {email}.")
    actor.audit(connection, "account.add", f"account {email}", role=role, how=how)
    return made


def find_account(connection: Connection, email: str) -> AccountInfo:
    """Return the account with an address.

    Raises
    ------
    NotFound
        If it does not exist.
    """
    found = _read(connection, Account.email == normalize_email(email))
    if found is None:
        raise NotFound(f"There is no account with the address {normalize_email(email)}.")
    return found


def read_account(connection: Connection, account_id: int) -> AccountInfo:
    """Return the account with an id.

    Raises
    ------
    NotFound
        If it does not exist.
    """
    found = _read(connection, Account.id == account_id)
    if found is None:
        raise NotFound(f"There is no account {account_id}.")
    return found


def list_accounts(
    connection: Connection, *, after: int | None = None, limit: int | None = None, search: str = ""
) -> list[AccountInfo]:
    """Return accounts in the order of creation, one more than `limit` if there are more."""
    asked = select(Account).order_by(Account.id)
    if after is not None:
        asked = asked.where(Account.id > after)
    if search:
        like = func.lower(Account.name).contains(search.lower(), autoescape=True)
        asked = asked.where(or_(Account.email.contains(search.casefold(), autoescape=True), like))
    return [_account_info(row) for row in connection.execute(asked if limit is None else asked.limit(limit + 1))]


def set_role(connection: Connection, actor: Principal, account_id: int, role: SiteRole) -> None:
    """Set the role of an account.

    Raises
    ------
    Forbidden
        If the caller lacks the permission.
    NotFound
        If it does not exist.
    Conflict
        For the last administrator.
    """
    _require_administrator(actor)
    known = read_account(connection, account_id)
    if known.role == role:
        return
    if role in (SiteRole.ORGANISER, SiteRole.ADMINISTRATOR):
        known.require_owner()
    if known.role == SiteRole.ADMINISTRATOR:
        keep_an_administrator(connection, account_id)
    connection.execute(update(Account).where(Account.id == account_id).values(role=role))
    actor.audit(connection, "account.role", f"account {known.email}", before=known.role, after=role)


def set_disabled(connection: Connection, actor: Principal, account_id: int, disabled: bool) -> None:
    """Disable or enable an account.

    Disabling ends its sessions; its tokens do not work while it is disabled.

    Raises
    ------
    Forbidden
        If the caller lacks the permission.
    NotFound
        If it does not exist.
    Conflict
        For the last administrator.
    """
    _require_administrator(actor)
    known = read_account(connection, account_id)
    if (known.disabled_at is not None) == disabled:
        return
    if disabled and known.role == SiteRole.ADMINISTRATOR:
        keep_an_administrator(connection, account_id)
    values: dict[str, Any] = {"disabled_at": now() if disabled else None}
    connection.execute(update(Account).where(Account.id == account_id).values(**values))
    if disabled:
        connection.execute(delete(WebSession).where(WebSession.account_id == account_id))
        revoke_links(connection, account_id)
    actor.audit(connection, "account.disable" if disabled else "account.enable", f"account {known.email}")


def set_verified(connection: Connection, actor: Principal, account_id: int) -> None:
    """Confirm the address of an account where no mail can verify it.

    Raises
    ------
    Forbidden
        If the caller lacks the permission.
    NotFound
        If it does not exist.
    """
    _require_administrator(actor)
    known = read_account(connection, account_id)
    if known.verified_at is None:
        connection.execute(update(Account).where(Account.id == account_id).values(verified_at=now()))
        actor.audit(connection, "account.verify", f"account {known.email}", how="by an administrator")


def set_password(connection: Connection, actor: Principal, account_id: int, password_hash: str) -> int:
    """Set the password of an account and return how many sessions that ended.

    Raises
    ------
    Forbidden
        If the caller lacks the permission.
    NotFound
        If it does not exist.
    """
    _require_administrator(actor)
    known = read_account(connection, account_id)
    connection.execute(update(Account).where(Account.id == account_id).values(password_hash=password_hash))
    revoke_links(connection, account_id, "password")
    ended = connection.execute(delete(WebSession).where(WebSession.account_id == account_id)).rowcount
    actor.audit(connection, "account.password", f"account {known.email}", how="by an administrator")
    return ended


def rename_account(connection: Connection, actor: Principal, account_id: int, name: str) -> None:
    """Change the name of a person."""
    known, name = read_account(connection, account_id), check_name(name)
    if known.name != name:
        connection.execute(update(Account).where(Account.id == account_id).values(name=name))
        actor.audit(connection, "account.name", f"account {known.email}", before=known.name, after=name)


def change_email(connection: Connection, actor: Principal, account_id: int, email: str) -> bool:
    """Change the address of an account, which must then be confirmed; False if it is the same.

    Raises
    ------
    Conflict
        If it contradicts what is stored.
    """
    known, email = read_account(connection, account_id), normalize_email(email)
    if known.email == email:
        return False
    if _read(connection, Account.email == email) is not None:
        raise AddressTaken(f"There is already an account with the address {email}.")
    values: dict[str, Any] = {"email": email, "verified_at": None, "claimed": True}
    connection.execute(update(Account).where(Account.id == account_id).values(**values))
    revoke_links(connection, account_id)
    actor.audit(connection, "account.email", f"account {known.email}", before=known.email, after=email)
    return True


def revoke_links(connection: Connection, account_id: int, *purposes: str) -> None:
    """Revoke the links that were sent to an account: those for these purposes, or all.

    A change of address or password ends what they were created for: whoever has the old mailbox gains nothing.
    """
    mine = [Confirmation.account_id == account_id]
    if purposes:
        mine.append(Confirmation.purpose.in_(purposes))
    connection.execute(delete(Confirmation).where(*mine))


def _require_administrator(actor: Principal) -> None:
    if not actor.administrates:
        raise Forbidden("Only administrators may do that.")


def keep_an_administrator(connection: Connection, without: int) -> None:
    """Raise Conflict unless another administrator can sign in. Locks them, so that two cannot leave at once."""
    able = Account.role == SiteRole.ADMINISTRATOR, Account.disabled_at.is_(None), Account.password_hash.is_not(None)
    left = connection.scalars(select(Account.id).where(*able).order_by(Account.id).with_for_update()).all()
    if not any(each != without for each in left):
        raise Conflict("This is the last administrator who can sign in. Make another account an administrator first.")


def _read(connection: Connection, *which: Any) -> AccountInfo | None:
    row = connection.execute(select(Account).where(*which)).one_or_none()
    return None if row is None else _account_info(row)


def _account_info(row: Row[Any]) -> AccountInfo:
    return AccountInfo(
        row.id,
        row.email,
        row.name,
        row.role,
        row.password_hash is not None,
        row.verified_at,
        row.disabled_at,
        row.created_at,
        row.claimed,
    )
