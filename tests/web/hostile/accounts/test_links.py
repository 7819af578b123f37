"""Links that were sent die with what they were made for: an address, a password, an account that is disabled."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient

from campaigns.accounts.accounts import change_email, set_disabled, set_password
from campaigns.accounts.confirmations import (
    find_confirmation,
    issue_password_link,
    make_confirmation,
    set_password_by_link,
)
from campaigns.accounts.passwords import hash_password
from campaigns.accounts.principal import COMMAND_LINE
from campaigns.errors import NotFound
from models.database.session import writing
from models.schema.roles import SiteRole
from tests.service.people import PASSWORD, submit, with_password
from tests.service.service import Service

pytestmark = pytest.mark.usefixtures("quick_hashing")
NEW = "another good battery"


def by_page(service: Service, account: int) -> None:
    with_password(service, account)
    client = service.client()
    submit(client, "/sign-in", email="mary@example.org", password=PASSWORD)
    answer = submit(client, "/account", "/account/email", email="mary@other.example", own_password=PASSWORD)
    assert answer.status_code == 303


def by_own_password(service: Service, account: int) -> None:
    with_password(service, account)
    answer = service.program(account).put("/api/v1/account/password", json={"old": PASSWORD, "new": NEW})
    assert answer.status_code == 200


def by_administrator(service: Service, account: int) -> None:
    with writing(service.engine) as connection:
        set_password(connection, COMMAND_LINE, account, hash_password(NEW))


def by_another_link(service: Service, account: int) -> None:
    # Beside the first one: as if it had been made at the same moment.
    with writing(service.engine) as connection:
        secret = issue_password_link(connection, COMMAND_LINE, account, 3600.0)
        set_password_by_link(connection, COMMAND_LINE, secret, hash_password(NEW))


def by_disabling(service: Service, account: int) -> None:
    with writing(service.engine) as connection:
        set_disabled(connection, COMMAND_LINE, account, True)
        set_disabled(connection, COMMAND_LINE, account, False)


def by_there_and_back(service: Service, account: int) -> None:
    with writing(service.engine) as connection:
        change_email(connection, COMMAND_LINE, account, "mary@other.example")
        change_email(connection, COMMAND_LINE, account, "mary@example.org")


ENDINGS = (by_page, by_own_password, by_administrator, by_another_link, by_disabling, by_there_and_back)


@pytest.mark.parametrize("handed_on", [False, True], ids=["mailed", "handed on"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_link_for_a_password_ends(service: Service, ending: Callable[[Service, int], None], handed_on: bool) -> None:
    mary = service.account("mary")
    with writing(service.engine) as connection:
        sent_to = "" if handed_on else "mary@example.org"
        secret = make_confirmation(connection, mary, "password", 3600.0, sent_to=sent_to)
    assert service.client().get(f"/password/{secret}").status_code == 200
    ending(service, mary)
    client = service.client()
    assert client.get(f"/password/{secret}").status_code == 404
    answer = submit(client, "/sign-in", f"/password/{secret}", password="yet another battery")
    assert answer.status_code == 404
    assert (
        submit(service.client(), "/sign-in", email="mary@example.org", password="yet another battery").status_code
        == 401
    )


@pytest.mark.parametrize("ending", [by_page, by_disabling, by_there_and_back])
def test_a_link_that_confirms_an_address_ends(service: Service, ending: Callable[[Service, int], None]) -> None:
    mary = service.account("mary")
    with writing(service.engine) as connection:
        secret = make_confirmation(connection, mary, "address", 3600.0, sent_to="mary@example.org")
    ending(service, mary)
    with writing(service.engine) as connection, pytest.raises(NotFound):
        find_confirmation(connection, secret, "address")


def test_who_took_an_account_leaves_no_invitation_behind(service: Service) -> None:
    mary, eve = service.account("mary", SiteRole.ORGANISER), service.account("eve")
    service.team("harbour", mary)
    thief = service.program(mary)
    link = thief.post("/api/v1/invitations", json={"team": "harbour", "team_role": "lead"}).json()["link"]
    with writing(service.engine) as connection:
        secret = make_confirmation(connection, mary, "password", 3600.0, sent_to="mary@example.org")
        set_password_by_link(connection, COMMAND_LINE, secret, hash_password(NEW))
    accepted = service.program(eve).post("/api/v1/invitations/accept", json={"secret": link.rpartition("/")[2]})
    assert accepted.status_code == 404


def test_an_invitation_is_for_the_address_that_it_names(service: Service) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    service.team("harbour", mary)
    made = service.program(mary).post("/api/v1/invitations", json={"team": "harbour", "email": "zoe@example.org"})
    with writing(service.engine) as connection:
        change_email(connection, COMMAND_LINE, zoe, "zoe@other.example")
    secret = made.json()["link"].rpartition("/")[2]
    client: TestClient = service.program(zoe)
    assert client.post("/api/v1/invitations/accept", json={"secret": secret}).status_code == 403
