"""Sessions: browsers in which somebody has signed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlalchemy import delete, insert, select, update

from campaigns.accounts.passwords import hashed, is_outdated, matches
from campaigns.accounts.principal import Principal
from campaigns.accounts.secrets import hash_of, new_secret
from campaigns.accounts.throttle import Rate, network_of
from campaigns.errors import WebError
from models.database.session import reading, writing
from models.schema.accounts import Account, WebSession
from models.schema.base import now
from runtime.service_settings import Lifetime

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from campaigns.accounts.throttle import Throttle

QUARTER_SECONDS = 900
MANY = 10
"""Times as many wrong passwords from everywhere as one network may try are guesses by many machines."""
WHILE_GUESSED = Rate("password while guessed", 3, QUARTER_SECONDS)
"""What each network may try then: enough for an owner who mistypes."""


class SignInFailed(WebError):
    """There is no account with this address and this password."""

    status: ClassVar[int] = 401
    code: ClassVar[str] = "sign_in_failed"


@dataclass(frozen=True, slots=True)
class KnownSession:
    """A browser in which an account is signed in."""

    id: int
    created_at: float
    seen_at: float


def recognise(engine: Engine, throttle: Throttle, email: str, password: str, address: str, tries: int) -> Principal:
    """The account whose password this is.

    `tries` wrong passwords within a quarter of an hour are allowed from a network. Who guesses from there slows down
    nobody but himself: the owner comes in from elsewhere with the right password, however many were wrong. Where very
    many are, from wherever, each network has a few tries. Raises SignInFailed in the same words, after the same time,
    where the account does not exist, is disabled or has another password; TooMany.
    """
    email, whence = email.strip().casefold(), network_of(address)
    here = f"{whence} {email}"
    message = "Too many passwords were wrong. Wait before the next try."
    from_network, for_account = Rate("guess", tries, QUARTER_SECONDS), Rate("password", tries, QUARTER_SECONDS)
    everywhere = Rate("guesses", MANY * tries, QUARTER_SECONDS)
    throttle.check(from_network, whence, message)
    # Counted before it is known whether it is right: many guesses at once would pass a test that comes first.
    throttle.spend(for_account, here, message)
    if not throttle.allows(everywhere, email):
        throttle.spend(WHILE_GUESSED, here, message)
    with reading(engine) as connection:
        row = connection.execute(select(Account).where(Account.email == email)).one_or_none()
    stored = None if row is None else row.password_hash
    if not matches(password, stored) or row is None or row.disabled_at is not None:
        throttle.count(everywhere, email)
        throttle.spend(from_network, whence, message)
        raise SignInFailed
    throttle.forget(for_account, here)
    throttle.forget(WHILE_GUESSED, here)
    if stored is not None and is_outdated(stored):
        anew = hashed(password)
        with writing(engine) as connection:
            same = Account.id == row.id, Account.password_hash == stored
            connection.execute(update(Account).where(*same).values(password_hash=anew))
    return Principal(account_id=row.id, email=row.email, name=row.name, address=address)


def begin_session(connection: Connection, who: Principal, lifetime: Lifetime, *, instead_of: str = "") -> str:
    """A new session of an account; its secret. That of the browser until now, whosever it was, ends.

    A secret that somebody else has slipped to the browser is thus good for nothing.
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
    """Sign out of this browser."""
    if principal.session_id is not None:
        connection.execute(delete(WebSession).where(WebSession.id == principal.session_id))
        principal.audit(connection, "session.end", f"account {principal.email}")


def end_sessions(connection: Connection, account_id: int, *, but: int | None = None) -> int:
    """Sign an account out everywhere, or everywhere else; how many sessions that ends. The caller notes why."""
    which = WebSession.account_id == account_id
    if but is not None:
        which &= WebSession.id != but
    return connection.execute(delete(WebSession).where(which)).rowcount


def list_sessions(connection: Connection, account_id: int) -> list[KnownSession]:
    """The browsers in which an account is signed in, the last used one first."""
    asked = select(WebSession.id, WebSession.created_at, WebSession.seen_at).where(
        WebSession.account_id == account_id, WebSession.expires_at > now()
    )
    rows = connection.execute(asked.order_by(WebSession.seen_at.desc(), WebSession.id.desc()))
    return [KnownSession(row.id, row.created_at, row.seen_at) for row in rows]
