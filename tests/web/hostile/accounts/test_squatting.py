"""An address that nobody has confirmed gets nothing from anybody, and keeps nobody from his own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from campaigns.accounts.accounts import Unconfirmed, set_role
from campaigns.accounts.principal import COMMAND_LINE
from campaigns.accounts.teams import create_team
from models.database.session import reading, writing
from models.schema.accounts import Account, Membership
from models.schema.campaigns import CampaignMember
from models.schema.roles import SiteRole, Visibility
from tests.service.people import PASSWORD, submit
from tests.service.postman import Postman
from tests.service.service import Service

pytestmark = pytest.mark.usefixtures("quick_hashing")
BOSS = "boss@company.example"
OWN = "the boss knows a battery"


def browser(service: Service) -> TestClient:
    return service.stack.enter_context(TestClient(service.app, base_url="https://mt.example.org"))


@pytest.fixture
def squatter(mailing: Service) -> TestClient:
    """Somebody who has registered the address of another, and is signed in to that account."""
    client = browser(mailing)
    submit(client, "/sign-up", email=BOSS, name="The Boss", password=PASSWORD)
    submit(client, "/sign-in", email=BOSS, password=PASSWORD)
    assert client.get("/api/v1/me").json()["verified"] is False
    return client


@pytest.fixture
def campaign(mailing: Service) -> Service:
    anna, mary = mailing.account("anna", SiteRole.ADMINISTRATOR), mailing.account("mary")
    team = mailing.team("harbour", mary)
    mailing.campaign("hush", organisers=(anna,), teams=(team,), visibility=Visibility.PRIVATE)
    return mailing


def by_organiser(client: TestClient) -> Any:
    return client.put("/api/v1/campaigns/hush/members", json={"email": BOSS, "role": "organiser"})


def by_viewer(client: TestClient) -> Any:
    return client.put("/api/v1/campaigns/hush/members", json={"email": BOSS, "role": "viewer"})


def by_team(client: TestClient) -> Any:
    return client.post("/api/v1/teams/harbour/members", json={"email": BOSS})


def by_role(client: TestClient) -> Any:
    found = client.get("/api/v1/accounts", params={"search": BOSS}).json()["items"][0]["id"]
    return client.patch(f"/api/v1/accounts/{found}", json={"role": "organiser"})


WAYS: tuple[Callable[[TestClient], Any], ...] = (by_organiser, by_viewer, by_team, by_role)


@pytest.mark.parametrize("way", WAYS)
def test_a_role_waits_until_the_address_is_confirmed(
    campaign: Service, squatter: TestClient, postman: Postman, way: Callable[[TestClient], Any]
) -> None:
    anna = _program(campaign, "anna")
    refused = way(anna)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "conflict")
    assert "Nobody has confirmed the address" in refused.text
    assert squatter.get("/api/v1/campaigns/hush").status_code == 404
    assert squatter.get("/api/v1/teams/harbour").status_code == 404
    assert squatter.get("/api/v1/me").json()["role"] == "participant"
    # The one whose address it is asks for a password: the account is his, and nobody else is in it.
    owner = browser(campaign)
    submit(owner, "/password/forgotten", email=BOSS)
    submit(owner, postman.link(), password=OWN)
    submit(owner, "/sign-in", email=BOSS, password=OWN)
    assert owner.get("/api/v1/me").json()["verified"] is True
    assert squatter.get("/api/v1/me").json()["signed_in"] is False
    assert way(anna).is_success


def test_squatting_keeps_nobody_out(campaign: Service, squatter: TestClient, postman: Postman) -> None:
    owner = browser(campaign)
    answer = submit(owner, "/sign-up", email=BOSS, name="Boss", password=OWN)
    assert answer.headers["Location"] == "/sign-in?note=mail"
    assert "somebody else created the account" in postman.last().replace("\r\n", " ")
    assert "/password/forgotten" in postman.last()


def test_an_invitation_that_was_mailed_is_for_who_gets_the_mail(
    campaign: Service, squatter: TestClient, postman: Postman
) -> None:
    mary = _program(campaign, "mary")
    made = mary.post("/api/v1/invitations", json={"team": "harbour", "email": BOSS}).json()
    shown, mailed = made["link"].rpartition("/")[2], postman.link().rpartition("/")[2]
    assert made["mailed"] is True
    taken = _accept(squatter, shown)
    assert taken.status_code == 409
    assert squatter.get("/api/v1/teams/harbour").status_code == 404
    # Who has the mail has shown that the address is his: one step for who does not have an account yet.
    taken = _accept(squatter, mailed)
    assert taken.status_code == 303
    assert squatter.get("/api/v1/me").json()["verified"] is True


def test_nobody_signs_up_for_another_with_the_link_that_was_shown(campaign: Service, postman: Postman) -> None:
    mary = _program(campaign, "mary")
    made = mary.post("/api/v1/invitations", json={"team": "harbour", "email": BOSS}).json()
    shown = made["link"].removeprefix("https://mt.example.org")
    fields = {"name": "Eve", "password": PASSWORD}
    eve = browser(campaign)
    assert submit(eve, shown, f"{shown}/sign-up", email=BOSS, **fields).status_code == 409
    with reading(campaign.engine) as connection:
        assert connection.execute(select(Account.id).where(Account.email == BOSS)).first() is None
    owner = browser(campaign)
    answer = submit(owner, postman.link(), f"{postman.link()}/sign-up", email=BOSS, **fields)
    assert answer.headers["Location"] == "/teams/harbour"
    assert owner.get("/api/v1/me").json()["verified"] is True
    assert len(postman.mails) == 1, "there is nothing left to confirm"


def test_a_link_that_was_handed_on_by_hand_is_enough(service: Service) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    service.team("harbour", mary)
    with writing(service.engine) as connection:
        connection.execute(update(Account).where(Account.id == zoe).values(verified_at=None, claimed=True))
    made = (
        service.program(mary).post("/api/v1/invitations", json={"team": "harbour", "email": "zoe@example.org"}).json()
    )
    assert (made["mailed"], made["not_mailed"]) == (False, "This server does not send e-mail.")
    accepted = service.program(zoe).post("/api/v1/invitations/accept", json={"secret": made["link"].rpartition("/")[2]})
    assert accepted.status_code == 200


def test_changing_to_the_address_of_another_is_squatting_as_well(campaign: Service) -> None:
    anna, eve = _program(campaign, "anna"), campaign.account("eve")
    with writing(campaign.engine) as connection:
        from campaigns.accounts.accounts import change_email

        change_email(connection, COMMAND_LINE, eve, BOSS)
    for way in WAYS:
        assert way(anna).status_code == 409
    with writing(campaign.engine) as connection:
        with pytest.raises(Unconfirmed):
            create_team(connection, COMMAND_LINE, "pier", lead=eve)
        with pytest.raises(Unconfirmed):
            set_role(connection, COMMAND_LINE, eve, SiteRole.ADMINISTRATOR)
    with reading(campaign.engine) as connection:
        assert not connection.scalars(select(Membership.role).where(Membership.account_id == eve)).all()
        assert not connection.scalars(select(CampaignMember.role).where(CampaignMember.account_id == eve)).all()


def test_an_account_that_an_administrator_has_made_waits_for_nobody(campaign: Service) -> None:
    anna = _program(campaign, "anna")
    assert anna.post("/api/v1/accounts", json={"email": BOSS, "name": "Boss"}).status_code == 201
    for way in WAYS:
        assert way(anna).is_success


def _program(service: Service, name: str) -> TestClient:
    with reading(service.engine) as connection:
        found = connection.execute(select(Account.id).where(Account.name == name)).scalar_one()
    return service.program(found)


def _accept(client: TestClient, secret: str) -> Any:
    return submit(client, f"/invitations/{secret}")
