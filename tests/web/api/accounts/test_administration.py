"""What an administrator does to an account concerns the account that is named, and never the administrator's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from campaigns.accounts.confirmations import find_confirmation
from models.database.session import reading
from models.schema.roles import Scope, SiteRole
from tests.service.people import PASSWORD, audited, with_password

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

    from tests.service.service import Service

API = "/api/v1"

pytestmark = pytest.mark.usefixtures("quick_hashing")


@dataclass(frozen=True)
class Person:
    """Somebody who is signed in with two browsers, and has a token."""

    id: int
    browser: TestClient
    other: TestClient
    token: int

    def signed_in(self) -> list[bool]:
        return [each.get(f"{API}/me").json()["signed_in"] for each in (self.browser, self.other)]

    def tokens(self) -> list[tuple[str, bool]]:
        items = self.browser.get(f"{API}/tokens").json()["items"]
        return [(each["name"], each["alive"]) for each in items]


def person(service: Service, name: str, role: SiteRole = SiteRole.PARTICIPANT) -> Person:
    account = with_password(service, service.account(name, role))
    browser = service.browser(account)
    made = browser.post(f"{API}/tokens", json={"name": f"of {name}"}).json()
    return Person(account, browser, service.browser(account), made["id"])


@pytest.fixture
def root(service: Service) -> Person:
    return person(service, "root-of-all", SiteRole.ADMINISTRATOR)


@pytest.fixture
def mary(service: Service) -> Person:
    return person(service, "mary-the-reader")


def test_sessions_end_of_the_account_that_is_named(service: Service, root: Person, mary: Person) -> None:
    assert root.browser.delete(f"{API}/accounts/{mary.id}/sessions").json() == {"ended": 2}
    assert (root.signed_in(), mary.signed_in()) == ([True, True], [False, False])
    assert audited(service)[-1][1:] == ("session.end_all", "account mary-the-reader@example.org")


def test_tokens_are_listed_made_and_revoked_of_the_account_that_is_named(
    service: Service, root: Person, mary: Person
) -> None:
    address = f"{API}/accounts/{mary.id}/tokens"
    listed = root.browser.get(address).json()["items"]
    assert [each["name"] for each in listed] == ["of mary-the-reader"]
    made = root.browser.post(address, json={"name": "a second one"}).json()
    client = service.client(headers={"Authorization": f"Bearer {made['token']}"})
    assert client.get(f"{API}/account").json()["id"] == mary.id
    assert root.browser.delete(f"{address}/{root.token}").status_code == 404
    assert root.browser.delete(f"{address}/{mary.token}").status_code == 204
    assert sorted(mary.tokens()) == [("a second one", True), ("of mary-the-reader", False)]
    assert root.tokens() == [("of root-of-all", True)]


def test_a_password_is_set_for_the_account_that_is_named(service: Service, root: Person, mary: Person) -> None:
    address = f"{API}/accounts/{mary.id}/password"
    refused: Any = root.browser.put(address, json={"password": "mary-the-reader"})
    assert refused.json()["error"]["message"] == "The password is your name or your address. Choose another one."
    assert root.browser.put(address, json={"password": "another horse battery"}).json() == {"ended": 2}
    assert (root.signed_in(), mary.signed_in()) == ([True, True], [False, False])
    for name, password, status in (
        ("mary-the-reader", PASSWORD, 401),
        ("mary-the-reader", "another horse battery", 201),
        ("root-of-all", PASSWORD, 201),
    ):
        body = {"name": "x", "email": f"{name}@example.org", "password": password}
        assert service.client().post(f"{API}/tokens", json=body).status_code == status


def test_a_link_sets_the_password_of_the_account_that_is_named(service: Service, root: Person, mary: Person) -> None:
    made = root.browser.post(f"{API}/accounts/{mary.id}/password-link").json()
    assert made["seconds"] == service.settings.confirmation_seconds
    with reading(service.engine) as connection:
        found = find_confirmation(connection, made["link"].rpartition("/password/")[2], "password")
    assert (found.account_id, found.email) == (mary.id, "mary-the-reader@example.org")


def test_an_account_changes_as_it_was_said(root: Person, mary: Person) -> None:
    address = f"{API}/accounts/{mary.id}"
    before = root.browser.get(f"{API}/accounts/{root.id}").json()
    assert root.browser.get(address).json()["id"] == mary.id
    # What is false confirms no address.
    unconfirmed = root.browser.patch(address, json={"verified": False, "role": "organiser"}).json()
    assert (unconfirmed["id"], unconfirmed["role"]) == (mary.id, "organiser")
    assert root.browser.get(f"{API}/accounts/{root.id}").json() == before


def test_a_token_of_an_administrator_makes_no_tokens(service: Service, root: Person, mary: Person) -> None:
    program = service.program(root.id, *Scope)
    assert program.post(f"{API}/accounts/{mary.id}/tokens", json={"name": "x"}).status_code == 403
    assert mary.tokens() == [("of mary-the-reader", True)]


def test_another_name_says_nothing_of_mails(mary: Person) -> None:
    """The server sends none, which matters only to who waits for a mail that confirms a new address."""
    renamed = mary.browser.patch(f"{API}/account", json={"name": "Mary"}).json()
    assert (renamed["name"], renamed["mailed"], renamed["not_mailed"]) == ("Mary", False, "")
    moved = mary.browser.patch(f"{API}/account", json={"email": "m@example.org", "password": PASSWORD}).json()
    assert moved["mailed"] is False
    assert moved["not_mailed"] != ""
