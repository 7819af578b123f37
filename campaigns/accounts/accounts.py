"""Accounts: who they are, what they may do on the whole server."""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.errors import MessageError
from email.headerregistry import Address
from typing import TYPE_CHECKING, Any

import idna
from sqlalchemy import delete, func, or_, select, update

from campaigns.errors import BadRequest, Forbidden, NotThere, Taken
from campaigns.short_text import short_text
from models.database.upsert import insert_new
from models.schema.accounts import Account, Confirmation, WebSession
from models.schema.base import now
from models.schema.roles import SiteRole

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

    from campaigns.accounts.principal import Principal

LONGEST_EMAIL, LONGEST_LOCAL, LONGEST_NAME = 254, 64, 100
_LOCAL = re.compile(r"[a-z0-9#$&'*+/=?^_`{|}~-]+(?:\.[a-z0-9#$&'*+/=?^_`{|}~-]+)*")
"""What stands before the @, without `!` and `%`, by which old mail servers hand on to another domain."""
_NUMBERS = re.compile(r"[\d.]+|0x.*")
ENCODED_WORD = "=?"
"""Begins what programs that read mails take for other characters, an @ among them."""


class AddressTaken(Taken):
    """There is an account with this address already."""


class Unconfirmed(Taken):
    """Nobody has confirmed the address of this account."""


@dataclass(frozen=True, slots=True)
class KnownAccount:
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
    """Whether its owner alone has said that the address is his."""

    def require_owner(self) -> None:
        """Raise Unconfirmed where nobody knows that this account is that of whom the address belongs to."""
        if self.claimed and self.verified_at is None:
            raise Unconfirmed(
                f"Nobody has confirmed the address {self.email}: whoever made the account may be somebody else. Send "
                "an invitation, or let an administrator vouch for the address."
            )


def fold_email(text: str) -> str:
    """An e-mail address as it is stored: folded, its domain as the resolver asks for it (`xn--...`).

    Python's own parser, by which mails are sent, must find this very address in it: no quotes, comments, encoded words
    or numbers of machines, which other programs take for another address. Raises BadRequest for what is none.
    """
    email = text.strip()
    wrong = BadRequest(f"{email[:80]!a} is not an e-mail address such as mary@example.org.")
    if len(email) > LONGEST_EMAIL:
        raise wrong
    local, _, domain = email.casefold().rpartition("@")
    try:
        domain = idna.encode(domain, uts46=True, std3_rules=True).decode()
        folded = f"{local}@{domain}"
        parsed = Address(addr_spec=folded).addr_spec
    except (ValueError, MessageError) as error:
        raise wrong from error
    odd = not _LOCAL.fullmatch(local) or ENCODED_WORD in local or _NUMBERS.fullmatch(domain) or domain.endswith(".")
    if odd or parsed != folded or len(local) > LONGEST_LOCAL or len(folded) > LONGEST_EMAIL:
        raise wrong
    return folded


def check_name(text: str) -> str:
    """The name of a person, without spaces around it. Raises BadRequest."""
    return short_text(text, "The name", LONGEST_NAME, shortest=1)


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
    """Make an account. `how` is for the audit log. Raises BadRequest, and Taken where the address has one.

    It is `claimed` where nobody but its owner says that the address is his.
    """
    email, name = fold_email(email), check_name(name)
    row = {"email": email, "name": name, "password_hash": password_hash, "role": role}
    made = insert_new(connection, Account, {**row, "verified_at": now() if verified else None, "claimed": claimed})
    if made is None:
        raise AddressTaken(f"There is an account with the address {email} already.")
    actor.audit(connection, "account.add", f"account {email}", role=role, how=how)
    return made


def find_account(connection: Connection, email: str) -> KnownAccount:
    """The account with an address. Raises NotThere."""
    found = _read(connection, Account.email == fold_email(email))
    if found is None:
        raise NotThere(f"There is no account with the address {fold_email(email)}.")
    return found


def read_account(connection: Connection, account_id: int) -> KnownAccount:
    """The account with an id. Raises NotThere."""
    found = _read(connection, Account.id == account_id)
    if found is None:
        raise NotThere(f"There is no account {account_id}.")
    return found


def list_accounts(
    connection: Connection, *, after: int | None = None, limit: int | None = None, search: str = ""
) -> list[KnownAccount]:
    """Accounts in the order in which they were made, one more than the limit where there are more."""
    asked = select(Account).order_by(Account.id)
    if after is not None:
        asked = asked.where(Account.id > after)
    if search:
        like = func.lower(Account.name).contains(search.lower(), autoescape=True)
        asked = asked.where(or_(Account.email.contains(search.casefold(), autoescape=True), like))
    return [_known(row) for row in connection.execute(asked if limit is None else asked.limit(limit + 1))]


def set_role(connection: Connection, actor: Principal, account_id: int, role: SiteRole) -> None:
    """Say what an account may do. Raises Forbidden, NotThere, Taken for the last administrator."""
    _require_administrator(actor)
    known = read_account(connection, account_id)
    if known.role == role:
        return
    if role in (SiteRole.ORGANISER, SiteRole.ADMINISTRATOR):
        known.require_owner()
    if known.role == SiteRole.ADMINISTRATOR:
        _keep_an_administrator(connection, account_id)
    connection.execute(update(Account).where(Account.id == account_id).values(role=role))
    actor.audit(connection, "account.role", f"account {known.email}", before=known.role, after=role)


def set_disabled(connection: Connection, actor: Principal, account_id: int, disabled: bool) -> None:
    """Let an account be good for nothing, or for something again.

    Its sessions end; its tokens are not good while it is disabled. Raises Forbidden, NotThere, Taken.
    """
    _require_administrator(actor)
    known = read_account(connection, account_id)
    if (known.disabled_at is not None) == disabled:
        return
    if disabled and known.role == SiteRole.ADMINISTRATOR:
        _keep_an_administrator(connection, account_id)
    values: dict[str, Any] = {"disabled_at": now() if disabled else None}
    connection.execute(update(Account).where(Account.id == account_id).values(**values))
    if disabled:
        connection.execute(delete(WebSession).where(WebSession.account_id == account_id))
        drop_links(connection, account_id)
    actor.audit(connection, "account.disable" if disabled else "account.enable", f"account {known.email}")


def set_verified(connection: Connection, actor: Principal, account_id: int) -> None:
    """Vouch for the address of an account, where no mail can ask whether it is right. Raises Forbidden, NotThere."""
    _require_administrator(actor)
    known = read_account(connection, account_id)
    if known.verified_at is None:
        connection.execute(update(Account).where(Account.id == account_id).values(verified_at=now()))
        actor.audit(connection, "account.verify", f"account {known.email}", how="by an administrator")


def set_password(connection: Connection, actor: Principal, account_id: int, password_hash: str) -> int:
    """Set the password of an account; how many sessions that ends. Raises Forbidden, NotThere."""
    _require_administrator(actor)
    known = read_account(connection, account_id)
    connection.execute(update(Account).where(Account.id == account_id).values(password_hash=password_hash))
    drop_links(connection, account_id, "password")
    ended = connection.execute(delete(WebSession).where(WebSession.account_id == account_id)).rowcount
    actor.audit(connection, "account.password", f"account {known.email}", how="by an administrator")
    return ended


def rename(connection: Connection, actor: Principal, account_id: int, name: str) -> None:
    """Change what a person is called."""
    known, name = read_account(connection, account_id), check_name(name)
    if known.name != name:
        connection.execute(update(Account).where(Account.id == account_id).values(name=name))
        actor.audit(connection, "account.name", f"account {known.email}", before=known.name, after=name)


def change_email(connection: Connection, actor: Principal, account_id: int, email: str) -> bool:
    """Change the address of an account, which has then to be confirmed; whether it is another one. Raises Taken."""
    known, email = read_account(connection, account_id), fold_email(email)
    if known.email == email:
        return False
    if _read(connection, Account.email == email) is not None:
        raise AddressTaken(f"There is an account with the address {email} already.")
    values: dict[str, Any] = {"email": email, "verified_at": None, "claimed": True}
    connection.execute(update(Account).where(Account.id == account_id).values(**values))
    drop_links(connection, account_id)
    actor.audit(connection, "account.email", f"account {known.email}", before=known.email, after=email)
    return True


def drop_links(connection: Connection, account_id: int, *purposes: str) -> None:
    """Let the links that were sent to an account be good no more: those for these purposes, or all.

    What they were made for is over once the address or the password is another: who has the old mailbox has nothing.
    """
    mine = [Confirmation.account_id == account_id]
    if purposes:
        mine.append(Confirmation.purpose.in_(purposes))
    connection.execute(delete(Confirmation).where(*mine))


def _require_administrator(actor: Principal) -> None:
    if not actor.administrates:
        raise Forbidden("Only administrators may do that.")


def _keep_an_administrator(connection: Connection, without: int) -> None:
    """Raise Taken unless another administrator is left who can sign in. They are held, so that no two go at once."""
    able = Account.role == SiteRole.ADMINISTRATOR, Account.disabled_at.is_(None), Account.password_hash.is_not(None)
    left = connection.scalars(select(Account.id).where(*able).order_by(Account.id).with_for_update()).all()
    if not any(each != without for each in left):
        raise Taken("This is the last administrator who can sign in. Make another account one first.")


def _read(connection: Connection, *which: Any) -> KnownAccount | None:
    row = connection.execute(select(Account).where(*which)).one_or_none()
    return None if row is None else _known(row)


def _known(row: Row[Any]) -> KnownAccount:
    return KnownAccount(
        row.id,
        row.email,
        row.name,
        SiteRole(row.role),
        row.password_hash is not None,
        row.verified_at,
        row.disabled_at,
        row.created_at,
        row.claimed,
    )
