"""Nobody is taken into a campaign unasked, and nobody submits for who takes no part."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from campaigns.invitations.email_texts import invited_to
from campaigns.invitations.invitations import read_invitation
from models.database.session import reading, writing
from models.schema.accounts import Invitation
from models.schema.base import now
from models.schema.campaigns import CampaignMember, Participation
from models.schema.roles import SiteRole, Visibility
from tests.service.people import audited
from tests.service.service import Service
from tests.web.hostile.world import PRIVATE, World

HERE = "/api/v1/campaigns/hush"


@pytest.fixture
def port(service: Service) -> Service:
    """A private campaign of ann, and the team "quay", which mary leads and zoe is in."""
    ann = service.account("ann", SiteRole.ORGANISER)
    service.team("quay", service.account("mary"), service.account("zoe"))
    service.campaign("hush", organisers=(ann,), visibility=Visibility.PRIVATE, title="Hush & hide")
    return service


def person(service: Service, name: str) -> TestClient:
    with reading(service.engine) as connection:
        from models.schema.accounts import Account

        found = connection.execute(select(Account.id).where(Account.name == name)).scalar_one()
    return service.browser(found)


def taking_part(service: Service) -> int:
    with reading(service.engine) as connection:
        return len(connection.scalars(select(Participation.team_id)).all())


def test_a_team_takes_part_once_its_lead_has_accepted(port: Service) -> None:
    ann, mary, zoe = (person(port, name) for name in ("ann", "mary", "zoe"))
    asked = ann.post(f"{HERE}/teams", json={"team": "quay"})
    assert (asked.status_code, asked.json()) == (202, {"name": "quay", "team": "quay", "number": None})
    assert ann.post(f"{HERE}/teams", json={"team": "quay"}).status_code == 409
    assert taking_part(port) == 0
    assert mary.get(HERE).status_code == 404
    page = mary.get("/teams/quay").text
    assert "invites the team to <bdi>Hush &amp; hide</bdi>" in page
    assert "Hush" not in zoe.get("/teams/quay").text
    assert zoe.post(f"{HERE}/teams", json={"team": "quay"}).status_code == 404, "she does not lead it"
    joined = mary.post(f"{HERE}/teams", json={"team": "quay"})
    assert (joined.status_code, joined.json()["team"]) == (201, "quay")
    assert mary.get(HERE).status_code == zoe.get(HERE).status_code == 200
    assert mary.post(f"{HERE}/teams", json={"team": "quay"}).status_code in (403, 409)
    assert [action for _, action, _ in audited(port)][-2:] == ["invitation.make", "team.join"]
    with reading(port.engine) as connection:
        known = read_invitation(connection, connection.execute(select(Invitation.id)).scalar_one())
        assert invited_to(known) == "to participate in the campaign Hush & hide with the team quay"
        assert known.used_by == "mary@example.org"


def test_pages_invite_accept_and_decline(port: Service) -> None:
    ann, mary = person(port, "ann"), person(port, "mary")
    done = ann.post("/campaigns/hush/manage/teams", data={"team": "quay"})
    assert "Team invited. It participates once its lead has accepted" in done.text
    with reading(port.engine) as connection:
        number = connection.execute(select(Invitation.id)).scalar_one()
    assert f"/invitations/{number}/withdraw" in mary.get("/teams/quay").text
    assert mary.post(f"/invitations/{number}/withdraw", data={"back": "/teams/quay"}).status_code == 200
    assert "Hush" not in mary.get("/teams/quay").text
    assert mary.post(f"{HERE}/teams", json={"team": "quay"}).status_code == 404
    ann.post("/campaigns/hush/manage/teams", data={"team": "quay"})
    page = mary.post("/campaigns/hush/join", data={"team": "quay"})
    assert (str(page.url.path), page.status_code) == ("/campaigns/hush", 200)
    assert taking_part(port) == 1


@pytest.mark.parametrize("over", ["in time", "by its maker", "by another team"])
def test_an_invitation_that_is_over_lets_nobody_in(port: Service, over: str) -> None:
    ann, mary = person(port, "ann"), person(port, "mary")
    ann.post(f"{HERE}/teams", json={"team": "quay"})
    eve = port.account("eve")
    port.team("pier", eve)
    with writing(port.engine) as connection:
        if over == "in time":
            connection.execute(update(Invitation).values(expires_at=now() - 1))
        elif over == "by its maker":
            connection.execute(update(CampaignMember).values(role="viewer"))
    client, team = (port.browser(eve), "pier") if over == "by another team" else (mary, "quay")
    assert client.post(f"{HERE}/teams", json={"team": team}).status_code == 404
    assert taking_part(port) == 0


def test_administrators_take_teams_in(port: Service) -> None:
    root = port.browser(port.account("root", SiteRole.ADMINISTRATOR))
    assert root.post(f"{HERE}/teams", json={"team": "quay"}).status_code == 201
    assert taking_part(port) == 1


def test_nobody_submits_for_a_team_that_does_not_participate(world: World) -> None:
    ann = world.program("organiser")
    text = b"".join(b"word\n" for _ in range(8))
    for team in ("rivals", "RIVALS"):
        fields = {"system": "new", "team": team, "override": "true"}
        answer = ann.post(f"/api/v1/campaigns/{PRIVATE}/submissions", data=fields, files={"file": ("o.txt", text)})
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden"), answer.text
        assert "does not participate" in answer.text
        answer = ann.post(f"/api/v1/campaigns/{PRIVATE}/checks", data=fields, files={"file": ("o.txt", text)})
        assert answer.status_code == 403
    for team in ("harbour", "baselines of ours"):
        fields = {"system": "new", "team": team, "override": "true"}
        answer = ann.post(f"/api/v1/campaigns/{PRIVATE}/submissions", data=fields, files={"file": ("o.txt", text)})
        assert answer.status_code != 403, answer.text
