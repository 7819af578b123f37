"""Sessions, tokens and links that confirm: whose they are, from when to when, and what ends them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest
from argon2 import PasswordHasher
from sqlalchemy import select, update

from campaigns.accounts import sessions
from campaigns.accounts.passwords import hash_password, needs_rehash, verify_password
from campaigns.accounts.permissions import require_administrator, require_browser
from campaigns.accounts.principal import COMMAND_LINE, NOBODY, Principal, principal_of_session
from campaigns.accounts.secrets import equal_secrets, new_secret
from campaigns.accounts.sessions import (
    EVERYWHERE_FACTOR,
    UNDER_ATTACK,
    SignInFailed,
    authenticate,
    create_session,
    end_one_session,
    end_session,
    end_sessions,
    list_sessions,
)
from campaigns.accounts.throttle import Throttle
from campaigns.errors import Forbidden, NotFound, NotSignedIn, TooMany
from models.database.session import reading, writing
from models.schema.accounts import Account, WebSession
from models.schema.base import now
from models.schema.roles import Scope, SiteRole
from runtime.service_settings import Lifetime
from tests.campaigns.accounts.owners import HOUR, mary_of, owners
from tests.service.people import CHEAPLY_HASHED, PASSWORD, audited, with_password
from tests.service.service import Service


def test_a_session_begins_instead_of_that_of_the_browser(service: Service) -> None:
    mary, zoe = mary_of(service), service.account("zoe")
    here, elsewhere, mine = (service.session(account) for account in (zoe, zoe, mary.account_id or 0))
    assert elsewhere
    with writing(service.engine) as connection:
        secret = create_session(connection, mary, Lifetime(HOUR, 9 * HOUR), instead_of=here)
        assert owners(connection) == [zoe, mary.account_id, mary.account_id]
        assert principal_of_session(connection, secret).account_id == mary.account_id
        assert not principal_of_session(connection, here).signed_in
        (newest, oldest) = list_sessions(connection, mary.account_id or 0)
        expires = connection.scalar(
            select(WebSession.expires_at - WebSession.created_at).order_by(WebSession.id.desc())
        )
        assert expires == pytest.approx(HOUR, abs=60)
        assert newest.id > oldest.id
        create_session(connection, mary, Lifetime(HOUR, 9 * HOUR))
        assert len(owners(connection)) == 4, "without another one nothing ends"
        assert principal_of_session(connection, mine).signed_in
    assert audited(service) == [("mary@example.org", "session.begin", "account mary@example.org")] * 2


def test_sessions_that_are_over_are_neither_listed_nor_kept(service: Service) -> None:
    mary = mary_of(service)
    for seconds in (-60.0, 60.0):
        service.session(mary.account_id or 0)
        with writing(service.engine) as connection:
            newest = select(WebSession.id).order_by(WebSession.id.desc()).limit(1).scalar_subquery()
            connection.execute(update(WebSession).where(WebSession.id == newest).values(expires_at=now() + seconds))
    with writing(service.engine) as connection:
        assert [each.id for each in list_sessions(connection, mary.account_id or 0)] == [2]
        create_session(connection, mary, Lifetime(HOUR, 9 * HOUR))
        assert list(connection.scalars(select(WebSession.id).order_by(WebSession.id))) == [2, 3]


def test_sessions_are_listed_by_their_last_use(service: Service) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    for account in (mary, zoe, mary, mary):
        service.session(account)
    with writing(service.engine) as connection:
        for number, seen in ((1, 30.0), (3, 50.0), (4, 30.0)):
            connection.execute(update(WebSession).where(WebSession.id == number).values(seen_at=seen))
        assert [(each.id, each.seen_at) for each in list_sessions(connection, mary)] == [
            (3, 50.0),
            (4, 30.0),
            (1, 30.0),
        ]


def test_what_ends_which_sessions(service: Service) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    secrets = [service.session(account) for account in (mary, mary, zoe, mary, zoe)]
    with writing(service.engine) as connection:
        end_session(connection, NOBODY)
        end_session(connection, principal_of_session(connection, secrets[0]))
        assert owners(connection) == [mary, zoe, mary, zoe]
        with pytest.raises(NotFound):
            end_one_session(connection, principal_of_session(connection, secrets[1]), mary, 3)
        assert end_sessions(connection, mary, but=4) == 1
        assert list(connection.scalars(select(WebSession.id).order_by(WebSession.id))) == [3, 4, 5]
        assert end_sessions(connection, mary) == 1
        assert owners(connection) == [zoe, zoe]
        assert end_sessions(connection, zoe) == 2
    assert audited(service) == [("mary@example.org", "session.end", "account mary@example.org")]


@pytest.mark.usefixtures("quick_hashing")
def test_who_is_recognised(service: Service) -> None:
    mary, _ = service.account("mary"), service.account("without")
    disabled = service.account("disabled")
    with writing(service.engine) as connection:
        with_password = Account.id.in_([mary, disabled])
        connection.execute(update(Account).where(with_password).values(password_hash=CHEAPLY_HASHED))
        connection.execute(update(Account).where(Account.id == disabled).values(disabled_at=1.0))
    throttle, tries = Throttle("memory://"), 9

    def known(email: str, password: str, address: str = "192.0.2.1") -> Principal:
        return authenticate(service.engine, throttle, email, password, address, tries)

    found = known(" MARY@example.org", PASSWORD)
    assert found == Principal(account_id=mary, email="mary@example.org", name="mary", address="192.0.2.1")
    for number, (email, password) in enumerate(
        [("mary", "wrong"), ("without", PASSWORD), ("without", ""), ("disabled", PASSWORD), ("none", PASSWORD)]
    ):
        with pytest.raises(SignInFailed):
            known(f"{email}@example.org", password, f"198.51.100.{number}")


@pytest.mark.usefixtures("quick_hashing")
def test_guesses_slow_down_a_network_and_where_there_are_very_many_each_network_more(service: Service) -> None:
    tries, throttle = UNDER_ATTACK.times + 2, Throttle("memory://")
    with_password(service, service.account("mary"))

    def told(address: str, *passwords: str, email: str = "mary@example.org") -> str:
        """A letter for each try: in, wrong, or slowed down."""
        letters = ""
        for password in passwords:
            try:
                authenticate(service.engine, throttle, email, password, address, tries)
                letters += "i"
            except SignInFailed:
                letters += "w"
            except TooMany:
                letters += "s"
        return letters

    # One network, at many addresses.
    assert "".join(told("192.0.2.1", "x", email=f"a{n}@example.org") for n in range(tries + 2)) == "w" * tries + "ss"
    assert told("192.0.2.1", PASSWORD) == "s"
    assert told("192.0.2.2", "x", "x", PASSWORD, "x", "x", "x", "x", PASSWORD) == "wwiwwwss"
    # Many networks, at one address; five tries were wrong before.
    guesses = EVERYWHERE_FACTOR * tries - 5
    assert {told(f"10.{n}.0.1", "x") for n in range(guesses)} == {"w"}
    assert told("192.0.2.3", *["x"] * tries) == "w" * UNDER_ATTACK.times + "s" * (tries - UNDER_ATTACK.times)
    assert told("192.0.2.4", "x", "x", PASSWORD, "x", "x", "x", PASSWORD) == "wwiwwws"
    assert told("192.0.2.5", *["x"] * (tries + 1), email="other@example.org") == "w" * tries + "s"


@pytest.mark.usefixtures("quick_hashing")
def test_guesses_at_the_same_time_are_no_more_than_one_after_the_other(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them begin before the first one is found to be wrong."""
    with_password(service, service.account("mary"))
    throttle, checked = Throttle("memory://"), []

    def guess() -> None:
        with suppress(SignInFailed, TooMany):
            authenticate(service.engine, throttle, "mary@example.org", "x", "192.0.2.1", 3)

    def slow(password: str, _stored: str | None) -> bool:
        checked.append(password)
        if len(checked) < 9:
            guess()
        return False

    monkeypatch.setattr(sessions, "verify_password", slow)
    guess()
    assert checked == ["x"] * 3


@pytest.mark.usefixtures("quick_hashing")
def test_a_password_hashed_by_another_method_is_hashed_again(service: Service) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    older = PasswordHasher(time_cost=2, memory_cost=8, parallelism=1)
    with writing(service.engine) as connection:
        for account, password in ((mary, PASSWORD), (zoe, "another horse battery")):
            mine = update(Account).where(Account.id == account)
            connection.execute(mine.values(password_hash=older.hash(password)))
    seen = []
    for _ in range(2):
        authenticate(service.engine, Throttle("memory://"), "mary@example.org", PASSWORD, "192.0.2.1", 9)
        with reading(service.engine) as connection:
            rows = connection.execute(select(Account.id, Account.password_hash)).all()
        seen.append({row.id: row.password_hash for row in rows})
    assert seen[0] == seen[1]
    assert verify_password(PASSWORD, seen[0][mary])
    assert {account: needs_rehash(stored) for account, stored in seen[0].items()} == {mary: False, zoe: True}


@pytest.mark.usefixtures("quick_hashing")
def test_a_password_that_is_changed_meanwhile_is_not_put_back(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody signs in with a stolen password while its owner sets another one."""
    mary, changed = service.account("mary"), hash_password("another horse battery")
    older = PasswordHasher(time_cost=2, memory_cost=8, parallelism=1)
    mine = update(Account).where(Account.id == mary)
    with writing(service.engine) as connection:
        connection.execute(mine.values(password_hash=older.hash(PASSWORD)))

    def slow(password: str) -> str:
        with writing(service.engine) as connection:
            connection.execute(mine.values(password_hash=changed))
        return hash_password(password)

    monkeypatch.setattr(sessions, "hash_password", slow)
    authenticate(service.engine, Throttle("memory://"), "mary@example.org", PASSWORD, "192.0.2.1", 9)
    with reading(service.engine) as connection:
        assert connection.scalar(select(Account.password_hash).where(Account.id == mary)) == changed


def test_what_a_browser_and_an_administrator_may() -> None:
    everything = frozenset(Scope)
    root = Principal(1, role=SiteRole.ADMINISTRATOR, scopes=everything)
    require_administrator(root)
    require_administrator(replace(root, scopes=frozenset({Scope.READ})), Scope.READ)
    require_administrator(COMMAND_LINE)
    for wrong in (replace(root, role=SiteRole.ORGANISER), replace(root, scopes=frozenset({Scope.READ, Scope.SUBMIT}))):
        with pytest.raises(Forbidden):
            require_administrator(wrong)
    browser = replace(root, role=SiteRole.VIEWER, session_id=5)
    assert require_browser(browser) == 1
    for wrong in (replace(browser, session_id=None, token_id=5), replace(browser, scopes=frozenset({Scope.READ}))):
        with pytest.raises(Forbidden):
            require_browser(wrong)
    with pytest.raises(Forbidden):
        require_browser(COMMAND_LINE)
    for ask in (require_administrator, require_browser):
        with pytest.raises(NotSignedIn):
            ask(NOBODY)


def test_secrets_are_long_and_distinguished() -> None:
    assert len({new_secret() for _ in range(20)}) == 20
    assert new_secret("sty_").startswith("sty_")
    assert len(new_secret()) >= 43
    assert equal_secrets("abc", "abc")
    assert not equal_secrets("abc", "abd")
