"""Sessions of browsers that are signed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlalchemy import delete, insert, select, update

from campaigns.accounts.passwords import hash_password, needs_rehash, verify_password
from campaigns.accounts.principal import Principal
from campaigns.accounts.secrets import hash_of, new_secret
from campaigns.accounts.throttle import Rate, network_of
from campaigns.errors import CampaignsError, NotFound
from models.database.session import reading, writing
from models.schema.accounts import Account, WebSession
from models.schema.base import now
from runtime.service_settings import Lifetime

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from campaigns.accounts.throttle import Throttle

QUARTER_SECONDS = 900
EVERYWHERE_FACTOR = 10
"""This many times the wrong passwords allowed from one network, from all networks, mean a distributed attack."""
UNDER_ATTACK = Rate("password while guessed", 3, QUARTER_SECONDS)
"""What each network may try during a distributed attack: enough for an owner who mistypes."""


class SignInFailed(CampaignsError):
    """There is no account with this address and this password."""

    status: ClassVar[int] = 401
    code: ClassVar[str] = "sign_in_failed"


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A browser in which an account is signed in."""

    id: int
    created_at: float
    seen_at: float


def authenticate(engine: Engine, throttle: Throttle, email: str, password: str, address: str, tries: int) -> Principal:
    """Return the account with this address and password.

    A network may try `tries` wrong passwords in a quarter of an hour. Guessing from one network slows down that network
    only: the owner can sign in from elsewhere. If there are very many wrong passwords from all networks, each network
    gets a few tries.

    Raises
    ------
    TooMany
        If a limit on attempts is reached.
    SignInFailed
        If the account does not exist, is disabled or has another password: the same message after the same time.
    """
    email, whence = email.strip().casefold(), network_of(address)
    here = f"{whence} {email}"
    message = "Too many wrong passwords. Wait before you try again."
    from_network, for_account = Rate("guess", tries, QUARTER_SECONDS), Rate("password", tries, QUARTER_SECONDS)
    everywhere = Rate("guesses", EVERYWHERE_FACTOR * tries, QUARTER_SECONDS)
    throttle.check(from_network, whence, message)
    # Counted before the password is checked: many simultaneous guesses would all pass a check that comes first.
    throttle.hit(for_account, here, message)
    if not throttle.allows(everywhere, email):
        throttle.hit(UNDER_ATTACK, here, message)
    with reading(engine) as connection:
        row = connection.execute(select(Account).where(Account.email == email)).one_or_none()
    stored = None if row is None else row.password_hash
    if not verify_password(password, stored) or row is None or row.disabled_at is not None:
        throttle.count(everywhere, email)
        throttle.hit(from_network, whence, message)
        raise SignInFailed
    throttle.reset(for_account, here)
    throttle.reset(UNDER_ATTACK, here)
    if stored is not None and needs_rehash(stored):
        rehashed = hash_password(password)
        with writing(engine) as connection:
            same = Account.id == row.id, Account.password_hash == stored
            connection.execute(update(Account).where(*same).values(password_hash=rehashed))
    return Principal(account_id=row.id, email=row.email, name=row.name, address=address)


def create_session(connection: Connection, who: Principal, lifetime: Lifetime, *, instead_of: str = "") -> str:
    """Create a session and return its secret. Ends the browser's previous session, whichever account it was for.

    A secret planted in the browser by somebody else thus becomes useless.
    """
    if instead_of:
        connection.execute(delete(WebSession).where(WebSession.secret_hash == hash_of(instead_of)))
    connection.execute(delete(WebSession).where(WebSession.expires_at <= now()))
    secret = new_secret()
    connection.execute(
        insert(WebSession).values(
            secret_hash=hash_of(secret),
            account_id=who.account_id,
            expires_at=now() + min(lifetime.unused_seconds, lifetime.longest_seconds),
        )
    )
    who.audit(connection, "session.begin", f"account {who.email}")
    return secret


def end_session(connection: Connection, principal: Principal) -> None:
    """End the session of this browser."""
    if principal.session_id is not None:
        connection.execute(delete(WebSession).where(WebSession.id == principal.session_id))
        principal.audit(connection, "session.end", f"account {principal.email}")


def end_sessions(connection: Connection, account_id: int, *, but: int | None = None) -> int:
    """End all sessions of an account, except `but`; how many ended. The caller writes the audit log."""
    which = WebSession.account_id == account_id
    if but is not None:
        which &= WebSession.id != but
    return connection.execute(delete(WebSession).where(which)).rowcount


def end_one_session(connection: Connection, principal: Principal, account_id: int, session_id: int) -> None:
    """End one session of an account.

    Raises
    ------
    NotFound
        If the account has no such session.
    """
    which = WebSession.account_id == account_id, WebSession.id == session_id
    if not connection.execute(delete(WebSession).where(*which)).rowcount:
        raise NotFound("Your account has no such session; it may have ended.")
    principal.audit(connection, "session.end", f"account {principal.email}")


def list_sessions(connection: Connection, account_id: int) -> list[SessionInfo]:
    """Return the sessions of an account, the last used one first."""
    asked = select(WebSession.id, WebSession.created_at, WebSession.seen_at).where(
        WebSession.account_id == account_id, WebSession.expires_at > now()
    )
    rows = connection.execute(asked.order_by(WebSession.seen_at.desc(), WebSession.id.desc()))
    return [SessionInfo(row.id, row.created_at, row.seen_at) for row in rows]
