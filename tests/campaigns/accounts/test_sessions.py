"""Sessions, tokens and links that confirm: whose they are, from when to when, and what ends them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from argon2 import PasswordHasher
from sqlalchemy import Connection, select, update

from campaigns.accounts.confirmations import (
    confirm_address,
    find_confirmation,
    issue_password_link,
    make_confirmation,
    set_password_by_link,
)
from campaigns.accounts.passwords import needs_rehash, verify_password
from campaigns.accounts.permissions import require_administrator, require_browser
from campaigns.accounts.principal import COMMAND_LINE, NOBODY, Principal, principal_of_session, principal_of_token
from campaigns.accounts.secrets import equal_secrets, hash_of, new_secret
from campaigns.accounts.sessions import (
    EVERYWHERE_FACTOR,
    UNDER_ATTACK,
    SignInFailed,
    authenticate,
    create_session,
    end_session,
    end_sessions,
    list_sessions,
)
from campaigns.accounts.throttle import Throttle
from campaigns.accounts.tokens import MAX_TOKENS, check_scopes, list_tokens, make_token, revoke_token
from campaigns.errors import BadRequest, Conflict, Forbidden, NotFound, NotSignedIn, TooMany
from models.database.session import reading, writing
from models.schema.accounts import Account, ApiToken, AuditEntry, Confirmation, Invitation, WebSession
from models.schema.base import now
from models.schema.roles import Scope, SiteRole
from runtime.service_settings import Lifetime
from tests.service.people import CHEAPLY_HASHED, PASSWORD, audited, with_password
from tests.service.service import Service

HOUR = 3600.0


def mary_of(service: Service) -> Principal:
    return Principal(service.account("mary"), "mary@example.org")


def owners(connection: Connection) -> list[int]:
    return list(connection.scalars(select(WebSession.account_id).order_by(WebSession.id)))


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
def test_a_password_that_was_hashed_in_another_way_is_hashed_anew(service: Service) -> None:
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


def test_what_scopes_there_are() -> None:
    assert check_scopes(["submit", "read", "read"]) == [each for each in Scope if each in ("read", "submit")]
    assert check_scopes(iter([*Scope])) == [*Scope]
    for wrong in ([], ["all"], ["read", "READ"]):
        with pytest.raises(BadRequest):
            check_scopes(wrong)


def test_how_long_a_token_lives(service: Service) -> None:
    mary = mary_of(service)
    with writing(service.engine) as connection:
        for days in (1, 30):
            number, secret = make_token(connection, mary, mary.account_id or 0, " x ", ["read"], days, 30)
            row = connection.execute(select(ApiToken).where(ApiToken.id == number)).one()
            assert row.expires_at - row.created_at == pytest.approx(days * 86400, abs=60)
            assert (row.name, row.scopes, row.account_id, row.revoked_at) == ("x", ["read"], mary.account_id, None)
            assert row.secret_hash == hash_of(secret)
            assert principal_of_token(connection, secret).token_id == number
        for days in (0, 31, -1):
            with pytest.raises(BadRequest):
                make_token(connection, mary, mary.account_id or 0, "x", ["read"], days, 30)
        details = connection.scalars(select(AuditEntry.details)).first()
    assert details == {"name": "x", "scopes": ["read"], "days": 1}
    assert audited(service)[0] == ("mary@example.org", "token.make", "token 1 of account mary@example.org")


def test_an_account_has_fifty_tokens_that_are_good(service: Service) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    row = {"name": "x", "scopes": ["read"], "expires_at": now() + HOUR}
    with writing(service.engine) as connection:

        def add(account: int, **values: Any) -> None:
            made = {"secret_hash": new_secret(), "account_id": account, **row, **values}
            connection.execute(ApiToken.__table__.insert().values(**made))

        assert MAX_TOKENS == 50
        for _ in range(MAX_TOKENS - 1):
            add(mary)
            add(zoe)
        add(mary, revoked_at=1.0)
        add(mary, expires_at=now() - HOUR)
        make_token(connection, COMMAND_LINE, mary, "x", ["read"], 1, 30)
        with pytest.raises(Conflict):
            make_token(connection, COMMAND_LINE, mary, "x", ["read"], 1, 30)
        make_token(connection, COMMAND_LINE, zoe, "x", ["read"], 1, 30)


def test_tokens_are_listed_and_revoked_by_their_owner(service: Service) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    with writing(service.engine) as connection:
        for account in (mary, zoe, mary, mary, mary):
            make_token(connection, COMMAND_LINE, account, f"of {account}", ["submit", "read"], 1, 30)
        for number, values in ((3, {"revoked_at": 5.0}), (4, {"expires_at": now() - 1}), (5, {"expires_at": None})):
            connection.execute(update(ApiToken).where(ApiToken.id == number).values(**values))
        listed = list_tokens(connection, mary)
        assert [(each.id, each.alive) for each in listed] == [(5, True), (4, False), (3, False), (1, True)]
        assert {each.name for each in listed} == {f"of {mary}"}
        assert set(listed[0].scopes) == {Scope.READ, Scope.SUBMIT}
        for number in (2, 99):
            with pytest.raises(NotFound):
                revoke_token(connection, COMMAND_LINE, mary, number)
        before = len(audited(service))
        revoke_token(connection, COMMAND_LINE, mary, 1)
        revoke_token(connection, COMMAND_LINE, mary, 3)
        revoked = {row.id: row.revoked_at for row in connection.execute(select(ApiToken.id, ApiToken.revoked_at))}
    assert revoked.pop(1) is not None
    assert revoked == {2: None, 3: 5.0, 4: None, 5: None}
    assert [action for _, action, _ in audited(service)[before:]] == ["token.make"] * 5 + ["token.revoke"]


def test_what_a_browser_and_an_administrator_may() -> None:
    everything = frozenset(Scope)
    root = Principal(1, role=SiteRole.ADMINISTRATOR, scopes=everything)
    assert require_administrator(root) == 1
    assert require_administrator(replace(root, scopes=frozenset({Scope.READ})), Scope.READ) == 1
    for wrong in (replace(root, role=SiteRole.ORGANISER), replace(root, scopes=frozenset({Scope.READ, Scope.SUBMIT}))):
        with pytest.raises(Forbidden):
            require_administrator(wrong)
    browser = replace(root, role=SiteRole.VIEWER, session_id=5)
    assert require_browser(browser) == 1
    for wrong in (replace(browser, session_id=None, token_id=5), replace(browser, scopes=frozenset({Scope.READ}))):
        with pytest.raises(Forbidden):
            require_browser(wrong)
    for ask in (require_administrator, require_browser):
        with pytest.raises(NotSignedIn):
            ask(NOBODY)


def test_secrets_are_long_and_told_apart() -> None:
    assert len({new_secret() for _ in range(20)}) == 20
    assert new_secret("sty_").startswith("sty_")
    assert len(new_secret()) >= 43
    assert equal_secrets("abc", "abc")
    assert not equal_secrets("abc", "abd")


def link(service: Service, account: int, purpose: Any = "address", sent_to: str = "", seconds: float = HOUR) -> str:
    with writing(service.engine) as connection:
        return make_confirmation(connection, account, purpose, seconds, sent_to=sent_to)


def test_a_new_link_is_instead_of_the_old_one_for_the_same(service: Service) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    old = link(service, mary)
    other = link(service, mary, "password"), link(service, zoe)
    new = link(service, mary, sent_to="mary@example.org")
    with reading(service.engine) as connection:
        found = find_confirmation(connection, new, "address")
        assert (found.account_id, found.email, found.name, found.sent_to) == (
            *(mary, "mary@example.org", "mary", "mary@example.org"),
        )
        assert find_confirmation(connection, other[0], "password").account_id == mary
        assert find_confirmation(connection, other[1], "address").account_id == zoe
        for secret, purpose in ((old, "address"), (new, "password"), (other[0], "address"), ("", "address")):
            with pytest.raises(NotFound):
                find_confirmation(connection, secret, purpose)  # type: ignore[arg-type]
        expires = connection.scalars(select(Confirmation.expires_at - Confirmation.created_at)).first()
    assert expires == pytest.approx(HOUR, abs=60)


@pytest.mark.parametrize(
    ("table", "values"),
    [(Confirmation, {"used_at": 1.0}), (Confirmation, {"expires_at": now() - 1}), (Account, {"disabled_at": 1.0})],
)
def test_a_link_is_good_once_and_not_for_ever(service: Service, table: Any, values: dict[str, Any]) -> None:
    secret = link(service, service.account("mary"))
    with writing(service.engine) as connection:
        find_confirmation(connection, secret, "address")
        connection.execute(update(table).values(**values))
        with pytest.raises(NotFound):
            find_confirmation(connection, secret, "address")


def test_an_address_is_confirmed_by_its_owner(service: Service) -> None:
    mary, zoe = mary_of(service), service.account("zoe")
    with writing(service.engine) as connection:
        connection.execute(update(Account).values(verified_at=None))
    others = link(service, zoe)
    secret = link(service, mary.account_id or 0, sent_to="mary@example.org")
    with writing(service.engine) as connection:
        for who in (Principal(zoe, "zoe@example.org"), NOBODY):
            with pytest.raises(Forbidden):
                confirm_address(connection, who, secret)
        confirm_address(connection, mary, secret)
        verified = {row.id: row.verified_at for row in connection.execute(select(Account.id, Account.verified_at))}
        assert (verified[mary.account_id or 0] is not None, verified[zoe]) == (True, None)
        assert find_confirmation(connection, others, "address").account_id == zoe
        with pytest.raises(NotFound):
            confirm_address(connection, mary, secret)
        connection.execute(update(Account).where(Account.id == mary.account_id).values(verified_at=5.0))
    again, elsewhere = (
        link(service, mary.account_id or 0, sent_to=to) for to in ("mary@example.org", "old@example.org")
    )
    with writing(service.engine) as connection:
        with pytest.raises(NotFound, match="Request a new one"):
            confirm_address(connection, mary, elsewhere)
        with pytest.raises(NotFound):
            confirm_address(connection, mary, again)
    last = link(service, mary.account_id or 0, sent_to="mary@example.org")
    with writing(service.engine) as connection:
        confirm_address(connection, mary, last)
        assert connection.scalar(select(Account.verified_at).where(Account.id == mary.account_id)) == 5.0
    assert audited(service) == [("mary@example.org", "account.verify", "account mary@example.org")] * 2


@pytest.mark.parametrize(
    ("sent_to", "before", "verified"),
    [
        ("mary@example.org", None, True),
        ("mary@example.org", 5.0, True),
        ("", None, False),
    ],
)
def test_a_password_by_a_link_shuts_out_who_knew_the_old_one(
    service: Service, sent_to: str, before: float | None, verified: bool
) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    for account in (mary, zoe):
        service.session(account)
        service.program(account)
        service.program(account)
    with writing(service.engine) as connection:
        connection.execute(update(Account).values(verified_at=before))
        connection.execute(update(ApiToken).where(ApiToken.id == 2).values(revoked_at=7.0))
        for maker, values in ((mary, {}), (zoe, {}), (mary, {"used_at": 5.0}), (mary, {"expires_at": 9.0})):
            row = {"secret_hash": new_secret(), "made_by": maker, "expires_at": now() + HOUR, **values}
            connection.execute(Invitation.__table__.insert().values(**row))
        others = connection.execute(select(Account).where(Account.id == zoe)).one()
    secret = link(service, mary, "password", sent_to)
    with writing(service.engine) as connection:
        with pytest.raises(NotFound):
            set_password_by_link(connection, NOBODY, secret + "x", "hash")
        assert set_password_by_link(connection, NOBODY, secret, "hash").account_id == mary
        row = connection.execute(select(Account).where(Account.id == mary)).one()
        assert (row.password_hash, row.verified_at is not None) == ("hash", verified)
        assert before is None or row.verified_at == before
        assert connection.execute(select(Account).where(Account.id == zoe)).one() == others
        assert owners(connection) == [zoe]
        revoked = list(connection.scalars(select(ApiToken.revoked_at).order_by(ApiToken.id)))
        assert (revoked[0] is not None, revoked[1], revoked[2:]) == (True, 7.0, [None, None])
        ends = select(Invitation.expires_at, Invitation.expires_at > now()).order_by(Invitation.id)
        expires, alive = zip(*connection.execute(ends), strict=True)
        assert (alive, expires[3]) == ((False, True, True, False), 9.0), "those that he made and nobody has used"
        with pytest.raises(NotFound):
            set_password_by_link(connection, NOBODY, secret, "other")
    assert audited(service) == [("nobody", "account.password", "account mary@example.org")]


def test_administrators_hand_out_links_for_passwords(service: Service) -> None:
    mary, disabled = service.account("mary"), service.account("zoe")
    with writing(service.engine) as connection:
        connection.execute(update(Account).where(Account.id == disabled).values(disabled_at=1.0))
        with pytest.raises(Forbidden):
            issue_password_link(connection, Principal(mary, role=SiteRole.ORGANISER), mary, HOUR)
        with pytest.raises(Conflict):
            issue_password_link(connection, COMMAND_LINE, disabled, HOUR)
        secret = issue_password_link(connection, COMMAND_LINE, mary, HOUR)
        assert find_confirmation(connection, secret, "password").sent_to == ""
    assert audited(service) == [("command line", "account.password_link", "account mary@example.org")]
