"""Accounts: what they can be called, who may change them, and that the last administrator stays."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, get_args

import pytest
from sqlalchemy import Connection, select, update

from campaigns.accounts.accounts import (
    AddressTaken,
    Unconfirmed,
    add_account,
    change_email,
    check_name,
    find_account,
    list_accounts,
    normalize_email,
    read_account,
    rename_account,
    set_disabled,
    set_password,
    set_role,
    set_verified,
)
from campaigns.accounts.confirmations import Purpose, make_confirmation
from campaigns.accounts.principal import COMMAND_LINE, Principal
from campaigns.errors import BadRequest, Conflict, Forbidden, NotFound
from models.database.session import writing
from models.schema.accounts import Account, AuditEntry, Confirmation, WebSession
from models.schema.roles import SiteRole
from tests.service.people import audited
from tests.service.service import Service

LONGEST = "x" * 64 + "@" + ".".join("d" * each for each in (63, 63, 61))
ADMINISTRATOR, ORGANISER = SiteRole.ADMINISTRATOR, SiteRole.ORGANISER


def sessions(connection: Connection) -> list[int]:
    return list(connection.scalars(select(WebSession.account_id).order_by(WebSession.id)))


@pytest.mark.parametrize("text", ["a@b.c", " Mary@Example.ORG\n", LONGEST, "a@b", "a+b@c-d.e"])
def test_an_address_is_stored_folded(text: str) -> None:
    assert normalize_email(text) == text.strip().lower()


@pytest.mark.parametrize(
    "text",
    ["", "a", "@b.c", "a@", "a@-b", "a@b.", "a@b..c", "x" * 65 + "@b.c", f"{LONGEST}d", "a@" + "d" * 64, "ä@b.c"],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(BadRequest, match="is not an e-mail address"):
        normalize_email(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [("x", "x"), ("x" * 100, "x" * 100), ("  Mary \t Q. ", "Mary Q."), ("e\u0301", "é"), ("न\u200dन", "न\u200dन")],
)
def test_a_name_has_no_spaces_around_it(text: str, name: str) -> None:
    assert check_name(text) == name


@pytest.mark.parametrize("text", ["", "  ", "x" * 101, "a\u202eb", "a\0b", "a\u200bb"])
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(BadRequest):
        check_name(text)


def test_accounts_are_made_once_and_found(service: Service) -> None:
    with writing(service.engine) as connection:
        mary = add_account(connection, COMMAND_LINE, "Mary@example.org", "Mary", how="so")
        zoe = add_account(
            connection, COMMAND_LINE, "zoe@example.org", "Zoe", password_hash="x", role=ORGANISER, verified=True
        )
        with pytest.raises(AddressTaken):
            add_account(connection, COMMAND_LINE, "MARY@EXAMPLE.org", "Eve")
        first, second = read_account(connection, mary), find_account(connection, " ZOE@example.org")
        details = connection.scalars(select(AuditEntry.details).order_by(AuditEntry.id)).first()
        for missing in (zoe + 1, 0):
            with pytest.raises(NotFound):
                read_account(connection, missing)
        with pytest.raises(NotFound):
            find_account(connection, "eve@example.org")
    assert (first.id, first.email, first.name, first.role, first.has_password) == (
        *(mary, "mary@example.org", "Mary", SiteRole.PARTICIPANT, False),
    )
    assert (second.id, second.role, second.has_password, second.disabled_at) == (zoe, ORGANISER, True, None)
    assert (first.verified_at is None, second.verified_at is None) == (True, False)
    assert details == {"role": "participant", "how": "so"}


def test_accounts_are_listed_page_by_page_and_by_name_or_address(service: Service) -> None:
    for name in ("Anna", "b_b", "banana", "ludmila 100%"):
        service.account(name.replace(" ", "").replace("%", ""))
    with writing(service.engine) as connection:
        connection.execute(update(Account).where(Account.id == 4).values(name="Ludmila 100%"))

        def found(**asked: Any) -> list[int]:
            return [each.id for each in list_accounts(connection, **asked)]

        assert found() == [1, 2, 3, 4]
        assert found(limit=4) == [1, 2, 3, 4]
        assert found(limit=2) == [1, 2, 3], "one more says that there are more"
        assert found(after=2, limit=2) == [3, 4]
        assert found(after=4) == []
        for search, expected in (("AN", [1, 3]), ("_", [2]), ("%", [4]), ("100% x", []), ("ludmila100@", [4])):
            assert found(search=search) == expected, search
        assert found(search="an", after=1) == [3]


@pytest.mark.parametrize(
    ("act", "action"),
    [
        (lambda connection, actor, one: set_role(connection, actor, one, ORGANISER), "account.role"),
        (lambda connection, actor, one: set_disabled(connection, actor, one, True), "account.disable"),
        (lambda connection, actor, one: set_verified(connection, actor, one), "account.verify"),
        (lambda connection, actor, one: set_password(connection, actor, one, "hash"), "account.password"),
        (lambda connection, actor, one: rename_account(connection, actor, one, "Eve"), "account.name"),
        (lambda connection, actor, one: change_email(connection, actor, one, "e@x.org"), "account.email"),
    ],
)
def test_a_change_is_of_one_account_by_those_who_may(
    service: Service, act: Callable[[Connection, Principal, int], Any], action: str
) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    with writing(service.engine) as connection:
        connection.execute(update(Account).values(verified_at=None))
        others = connection.execute(select(Account).where(Account.id == zoe)).one()
        if action not in ("account.name", "account.email"):
            for role in (None, SiteRole.PARTICIPANT, SiteRole.ORGANISER, SiteRole.VIEWER):
                with pytest.raises(Forbidden):
                    act(connection, Principal(mary, "mary@example.org", role=role), mary)
        before = connection.execute(select(Account).where(Account.id == mary)).one()
        act(connection, COMMAND_LINE, mary)
        assert connection.execute(select(Account).where(Account.id == mary)).one() != before
        assert connection.execute(select(Account).where(Account.id == zoe)).one() == others
        with pytest.raises(NotFound):
            act(connection, COMMAND_LINE, 99)
    assert audited(service) == [("command line", action, "account mary@example.org")]


@pytest.mark.parametrize(("claimed", "verified"), list(product((True, False), repeat=2)))
@pytest.mark.parametrize("role", [ORGANISER, ADMINISTRATOR])
def test_what_only_its_owner_calls_his_address_becomes_no_more(
    service: Service, role: SiteRole, claimed: bool, verified: bool
) -> None:
    """Whoever made the account may be somebody else; it can always become less."""
    mary = service.account("mary")
    values = {"claimed": claimed, "verified_at": 1.0 if verified else None}
    with writing(service.engine) as connection:
        connection.execute(update(Account).where(Account.id == mary).values(**values))
        if claimed and not verified:
            with pytest.raises(Unconfirmed):
                set_role(connection, COMMAND_LINE, mary, role)
            connection.execute(update(Account).where(Account.id == mary).values(role=ORGANISER))
        else:
            set_role(connection, COMMAND_LINE, mary, role)
        for less in (SiteRole.VIEWER, SiteRole.PARTICIPANT):
            connection.execute(update(Account).where(Account.id == mary).values(role=ORGANISER))
            set_role(connection, COMMAND_LINE, mary, less)
            assert read_account(connection, mary).role == less


@pytest.mark.parametrize(
    ("act", "left"),
    [
        (lambda connection, one: change_email(connection, COMMAND_LINE, one, "m@example.org"), []),
        (lambda connection, one: set_disabled(connection, COMMAND_LINE, one, True), []),
        (lambda connection, one: set_password(connection, COMMAND_LINE, one, "hash"), ["address"]),
        (lambda connection, one: rename_account(connection, COMMAND_LINE, one, "Eve"), ["address", "password"]),
        (lambda connection, one: set_verified(connection, COMMAND_LINE, one), ["address", "password"]),
    ],
)
def test_what_ends_links_that_were_sent(
    service: Service, act: Callable[[Connection, int], Any], left: list[str]
) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    with writing(service.engine) as connection:
        for account, purpose in product((mary, zoe), get_args(Purpose)):
            make_confirmation(connection, account, purpose, 60.0)
        act(connection, mary)
        asked = select(Confirmation.account_id, Confirmation.purpose).order_by(Confirmation.id)
        found = [tuple(row) for row in connection.execute(asked)]
    assert found == [*((mary, purpose) for purpose in left), (zoe, "address"), (zoe, "password")]


def test_what_is_so_already_is_no_change(service: Service) -> None:
    mary = service.account("mary")
    with writing(service.engine) as connection:
        for act in (
            lambda: set_role(connection, COMMAND_LINE, mary, SiteRole.PARTICIPANT),
            lambda: set_disabled(connection, COMMAND_LINE, mary, False),
            lambda: set_verified(connection, COMMAND_LINE, mary),
            lambda: rename_account(connection, COMMAND_LINE, mary, " mary "),
            lambda: change_email(connection, COMMAND_LINE, mary, "MARY@example.org"),
        ):
            before = connection.execute(select(Account)).one()
            assert not act()
            assert connection.execute(select(Account)).one() == before
    assert audited(service) == []


def test_another_address_is_to_be_confirmed_and_nobody_elses(service: Service) -> None:
    mary, _ = service.account("mary"), service.account("zoe")
    with writing(service.engine) as connection:
        with pytest.raises(AddressTaken):
            change_email(connection, COMMAND_LINE, mary, "Zoe@example.org")
        assert change_email(connection, COMMAND_LINE, mary, "M@example.org") is True
        known = read_account(connection, mary)
    assert (known.email, known.verified_at, known.claimed) == ("m@example.org", None, True)


def test_a_new_password_and_disabling_end_the_sessions_of_the_account(service: Service) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    for account in (mary, zoe, mary):
        service.session(account)
    with writing(service.engine) as connection:
        assert set_password(connection, COMMAND_LINE, mary, "hash") == 2
        assert sessions(connection) == [zoe]
        set_verified(connection, COMMAND_LINE, mary)
        assert sessions(connection) == [zoe]
        set_disabled(connection, COMMAND_LINE, mary, True)
        assert sessions(connection) == [zoe]
        set_disabled(connection, COMMAND_LINE, mary, False)
        assert read_account(connection, mary).disabled_at is None
        set_disabled(connection, COMMAND_LINE, zoe, True)
        assert sessions(connection) == []
        assert read_account(connection, zoe).disabled_at is not None


@pytest.mark.parametrize(
    ("other", "goes"),
    [
        ({"password_hash": "x"}, True),
        ({"password_hash": None}, False),
        ({"password_hash": "x", "disabled_at": 1.0}, False),
        ({"password_hash": "x", "role": ORGANISER}, False),
    ],
)
def test_an_administrator_who_can_sign_in_stays(service: Service, other: dict[str, Any], goes: bool) -> None:
    root, second = (service.account(name, ADMINISTRATOR) for name in ("root", "second"))
    with writing(service.engine) as connection:
        connection.execute(update(Account).where(Account.id == root).values(password_hash="x"))
        connection.execute(update(Account).where(Account.id == second).values(**other))
        # What makes nobody less is always possible.
        set_role(connection, COMMAND_LINE, root, ADMINISTRATOR)
        set_disabled(connection, COMMAND_LINE, root, False)
        if not goes:
            with pytest.raises(Conflict, match="last administrator"):
                set_role(connection, COMMAND_LINE, root, ORGANISER)
            with pytest.raises(Conflict, match="last administrator"):
                set_disabled(connection, COMMAND_LINE, root, True)
            return
        set_disabled(connection, COMMAND_LINE, root, True)
        with pytest.raises(Conflict, match="last administrator"):
            set_role(connection, COMMAND_LINE, second, ORGANISER)
        set_disabled(connection, COMMAND_LINE, root, False)
        set_role(connection, COMMAND_LINE, root, ORGANISER)
        assert read_account(connection, root).role == ORGANISER
