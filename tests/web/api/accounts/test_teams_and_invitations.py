"""Teams and invitations over the API."""

import pytest
from sqlalchemy import delete, select, update

from models.database.session import reading, writing
from models.schema.accounts import Account, Membership
from models.schema.campaigns import CampaignMember, Participation
from models.schema.roles import CampaignRole, Scope, SiteRole, TeamRole, Visibility
from tests.service.people import audited, everything_stored
from tests.service.service import Service

API = "/api/v1"


pytestmark = pytest.mark.usefixtures("quick_hashing")


def test_a_team_is_founded_changed_and_handed_over(service: Service) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    lead, member, eve = service.browser(mary), service.browser(zoe), service.browser(service.account("eve"))
    assert lead.post(f"{API}/teams", json={"name": "harbour", "affiliation": "Port"}).status_code == 201
    for taken in ("harbour", "Harbour", "ｈarbour"):
        assert eve.post(f"{API}/teams", json={"name": taken}).status_code == 409
    for bad in ("", "a/b", " -x", "Team 7", "TEAM７", "x" * 101, "a\u202eb"):
        assert eve.post(f"{API}/teams", json={"name": bad}).status_code == 422
    assert eve.post(f"{API}/teams", json={"name": "pier", "publication_name": "HARBOUR"}).status_code == 409
    assert eve.get(f"{API}/teams/harbour").status_code == 404
    assert (
        eve.get(f"{API}/teams/harbour").json()["error"]["code"] == eve.get(f"{API}/teams/none").json()["error"]["code"]
    )
    assert eve.get(f"{API}/teams").json() == {"items": [], "next": None}
    made = lead.post(f"{API}/invitations", json={"team": "harbour"}).json()
    secret = made["link"].rpartition("/")[2]
    assert member.post(f"{API}/invitations/accept", json={"secret": secret}).json()["team"] == "harbour"
    assert eve.post(f"{API}/invitations/accept", json={"secret": secret}).status_code == 404
    shown = member.get(f"{API}/teams/harbour").json()
    assert [(each["email"], each["role"]) for each in shown["people"]] == [
        ("mary@example.org", "lead"),
        ("zoe@example.org", "member"),
    ]
    assert member.patch(f"{API}/teams/harbour", json={"affiliation": "x"}).status_code == 403
    assert member.delete(f"{API}/teams/harbour/members/{mary}").status_code == 403
    assert member.patch(f"{API}/teams/harbour/members/{zoe}", json={"role": "lead"}).status_code == 403
    assert lead.delete(f"{API}/teams/harbour/members/{mary}").status_code == 409
    assert lead.patch(f"{API}/teams/harbour/members/{mary}", json={"role": "member"}).status_code == 409
    assert lead.patch(f"{API}/teams/harbour/members/{zoe}", json={"role": "lead"}).status_code == 204
    assert lead.delete(f"{API}/teams/harbour/members/{mary}").status_code == 204
    assert lead.get(f"{API}/teams/harbour").status_code == 404
    changed = member.patch(f"{API}/teams/harbour", json={"publication_name": "The Harbour"})
    assert changed.json()["publication_name"] == "The Harbour"
    assert eve.post(f"{API}/teams", json={"name": "the harbour"}).status_code == 409
    assert [what for _, what, _ in audited(service)] == [
        "team.found", "invitation.make", "invitation.use", "team.join", "team.role", "team.leave", "team.change",
    ]  # fmt: skip


def test_only_an_administrator_founds_a_team_for_somebody_else(service: Service) -> None:
    root, olga = service.account("root", SiteRole.ADMINISTRATOR), service.account("olga", SiteRole.ORGANISER)
    mary = service.browser(service.account("mary"))
    new = {"name": "harbour", "lead": "mary@example.org"}
    for refused in (service.browser(olga), mary):
        assert refused.post(f"{API}/teams", json=new).status_code == 403
    assert mary.get(f"{API}/teams").json()["items"] == []
    assert service.browser(root).post(f"{API}/teams", json=new).status_code == 201
    people = mary.get(f"{API}/teams/harbour").json()["people"]
    assert [(each["email"], each["role"]) for each in people] == [("mary@example.org", "lead")]


def test_a_team_that_has_submitted_by_the_command_line_cannot_be_claimed(service: Service) -> None:
    from sqlalchemy import insert

    from models.schema.corpus import System

    with writing(service.engine) as connection:
        connection.execute(insert(System).values(name="mast", team="Harbour"))
    assert service.browser(service.account("eve")).post(f"{API}/teams", json={"name": "harbour"}).status_code == 409
    root = service.browser(service.account("root", SiteRole.ADMINISTRATOR))
    assert root.post(f"{API}/teams", json={"name": "Harbour"}).status_code == 201


def test_viewers_found_no_teams(service: Service) -> None:
    viewer = service.browser(service.account("vera", SiteRole.VIEWER))
    assert viewer.post(f"{API}/teams", json={"name": "pier"}).status_code == 403


def test_who_invites_whom(service: Service) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    olga = service.account("olga", SiteRole.ORGANISER)
    service.team("harbour", mary, zoe)
    service.campaign("regatta", organisers=(olga,), visibility=Visibility.PRIVATE)
    service.campaign("public", organisers=(mary,))
    tries = {
        "site": {},
        "as organiser": {"role": "organiser"},
        "team": {"team": "harbour"},
        "campaign": {"campaign": "regatta", "campaign_role": "viewer"},
        "public": {"campaign": "public"},
        "both": {"team": "harbour", "campaign": "public"},
    }
    people = {
        "nobody": service.client(),
        "member": service.browser(zoe),
        "lead": service.browser(mary),
        "organiser": service.browser(olga),
        "reader": service.program(olga, Scope.READ),
        "root": service.browser(service.account("root", SiteRole.ADMINISTRATOR)),
    }
    got = {
        who: [client.post(f"{API}/invitations", json=body).status_code for body in tries.values()]
        for who, client in people.items()
    }
    assert got == {
        "nobody": [401] * 6,
        "member": [403, 403, 403, 404, 403, 403],
        "lead": [403, 403, 201, 404, 201, 422],
        "organiser": [201, 403, 404, 201, 403, 403],
        "reader": [403] * 6,
        "root": [201, 201, 201, 201, 201, 422],
    }


def test_an_invitation_is_for_one_person_once_and_may_be_withdrawn(service: Service) -> None:
    olga, zoe = service.account("olga", SiteRole.ORGANISER), service.account("zoe")
    service.campaign("regatta", organisers=(olga,), visibility=Visibility.PRIVATE)
    organiser, other, eve = service.browser(olga), service.browser(zoe), service.browser(service.account("eve"))
    wanted = {"campaign": "regatta", "campaign_role": "viewer", "email": "Zoe@example.org"}
    made = organiser.post(f"{API}/invitations", json=wanted).json()
    secret = {"secret": made["link"].rpartition("/")[2]}
    assert made["mailed"] is False
    assert eve.post(f"{API}/invitations/accept", json=secret).status_code == 403
    assert other.get(f"{API}/invitations").json()["items"] == []
    assert other.delete(f"{API}/invitations/{made['id']}").status_code == 404
    assert other.post(f"{API}/invitations/accept", json=secret).json() == {"team": None, "campaign": "regatta"}
    assert other.post(f"{API}/invitations/accept", json=secret).status_code == 404
    assert "regatta" in other.get("/").text
    again = organiser.post(f"{API}/invitations", json={**wanted, "email": ""}).json()
    assert organiser.delete(f"{API}/invitations/{again['id']}").status_code == 204
    late = {"secret": again["link"].rpartition("/")[2]}
    assert eve.post(f"{API}/invitations/accept", json=late).status_code == 404
    listed = organiser.get(f"{API}/invitations?campaign=regatta&limit=1").json()
    assert [each["alive"] for each in listed["items"]] == [False]
    rest = organiser.get(f"{API}/invitations?campaign=regatta&after={listed['next']}").json()
    assert [each["used_by"] for each in rest["items"]] == ["zoe@example.org"]
    assert rest["next"] is None
    assert secret["secret"] not in everything_stored(service)


def test_a_team_comes_into_a_campaign_by_invitation(service: Service) -> None:
    olga, mary, zoe = service.account("olga", SiteRole.ORGANISER), service.account("mary"), service.account("zoe")
    harbour = service.team("harbour", mary, zoe)
    service.campaign("regatta", organisers=(olga,), visibility=Visibility.PRIVATE)
    organiser = service.browser(olga)
    links = [organiser.post(f"{API}/invitations", json={"campaign": "regatta"}).json()["link"] for _ in range(3)]
    first, second, third = (each.rpartition("/")[2] for each in links)
    lead, member = service.browser(mary), service.browser(zoe)
    accept = f"{API}/invitations/accept"
    assert lead.post(accept, json={"secret": first}).status_code == 422
    assert member.post(accept, json={"secret": first, "team": "harbour"}).status_code == 422
    assert lead.post(accept, json={"secret": first, "team": "harbour"}).status_code == 200
    assert lead.post(accept, json={"secret": second, "team": "harbour"}).status_code == 409
    assert member.post(accept, json={"secret": second, "new_team": "pier"}).status_code == 200
    assert member.post(accept, json={"secret": third, "new_team": "Harbour"}).status_code == 409
    assert sorted(member.get(f"{API}/me").json()["teams"]) == ["harbour", "pier"]
    with reading(service.engine) as connection:
        assert connection.scalars(select(Participation.team_id).order_by(Participation.team_id)).first() == harbour


def test_nobody_becomes_less_by_an_invitation(service: Service) -> None:
    root, olga = service.account("root", SiteRole.ADMINISTRATOR), service.account("olga", SiteRole.ORGANISER)
    service.campaign("regatta", organisers=(olga,))
    wanted = {"campaign": "regatta", "campaign_role": CampaignRole.VIEWER, "role": SiteRole.VIEWER}
    secret = service.browser(root).post(f"{API}/invitations", json=wanted).json()["link"].rpartition("/")[2]
    organiser = service.browser(olga)
    assert organiser.post(f"{API}/invitations/accept", json={"secret": secret}).status_code == 200
    assert organiser.get(f"{API}/me").json()["role"] == "organiser"
    assert organiser.get(f"{API}/campaigns/regatta/audit").status_code == 200


def test_teams_are_filled_by_administrators_and_nobody_is_in_one_twice(service: Service) -> None:
    mary = service.account("mary")
    service.team("harbour", mary)
    service.account("zoe")
    root = service.browser(service.account("root", SiteRole.ADMINISTRATOR))
    wanted = {"email": "zoe@example.org", "role": TeamRole.LEAD}
    assert service.browser(mary).post(f"{API}/teams/harbour/members", json=wanted).status_code == 403
    assert root.post(f"{API}/teams/harbour/members", json=wanted).status_code == 201
    assert root.post(f"{API}/teams/harbour/members", json=wanted).status_code == 409
    assert root.post(f"{API}/teams/harbour/members", json={"email": "x@example.org"}).status_code == 404


def test_who_has_lost_a_right_does_not_get_it_back_by_a_link(service: Service) -> None:
    root = service.account("root", SiteRole.ADMINISTRATOR)
    people = {name: service.account(name) for name in ("lead", "demoted", "organiser", "gone")}
    harbour = service.team("harbour", people["lead"])
    service.campaign("regatta", organisers=(people["organiser"],))
    changes = {
        "lead": ({"team": "harbour"}, lambda: update(Membership).values(role=TeamRole.MEMBER)),
        "demoted": (
            {"role": "administrator"},
            lambda: update(Account).where(Account.id == people["demoted"]).values(role=SiteRole.ORGANISER),
        ),
        "organiser": ({"campaign": "regatta"}, lambda: delete(CampaignMember)),
        "gone": ({}, lambda: update(Account).where(Account.id == people["gone"]).values(disabled_at=1.0)),
    }
    with writing(service.engine) as connection:
        for name, role in (("demoted", SiteRole.ADMINISTRATOR), ("gone", SiteRole.ORGANISER)):
            connection.execute(update(Account).where(Account.id == people[name]).values(role=role))
    assert harbour
    links = {}
    for name, (wanted, _) in changes.items():
        made = service.browser(people[name]).post(f"{API}/invitations", json=wanted)
        links[name] = "/invitations/" + made.json()["link"].rpartition("/")[2]
    client = service.client()
    assert [client.get(link).status_code for link in links.values()] == [200] * 4
    for name, (_, change) in changes.items():
        with writing(service.engine) as connection:
            connection.execute(change())
        assert client.get(links[name]).status_code == 404, name
        accepted = service.browser(root).post(f"{API}/invitations/accept", json={"secret": links[name][13:]})
        assert accepted.status_code == 404, name


def test_a_list_of_invitations_says_what_each_is_for_who_made_it_and_who_used_it(service: Service) -> None:
    olga, mary, zoe = service.account("olga", SiteRole.ORGANISER), service.account("mary"), service.account("zoe")
    service.team("harbour", mary)
    service.campaign("regatta", organisers=(olga,))
    wanted = {
        "server": (olga, {"role": "viewer"}),
        "campaign": (olga, {"campaign": "regatta", "campaign_role": "viewer"}),
        "campaign with a team": (olga, {"campaign": "regatta"}),
        "team": (mary, {"team": "harbour", "team_role": "lead", "email": "zoe@example.org"}),
    }
    links, ids = {}, {}
    for what, (who, form) in wanted.items():
        made = service.browser(who).post(f"{API}/invitations", json=form).json()
        links[what], ids[what] = made["link"], made["id"]
    secret = links["team"].rpartition("/")[2]
    assert service.browser(zoe).post(f"{API}/invitations/accept", json={"secret": secret}).status_code == 200
    root = service.browser(service.account("root", SiteRole.ADMINISTRATOR))
    listed = {each["id"]: each for each in root.get(f"{API}/invitations").json()["items"]}
    blank = {"email": "", "role": "participant", "team": None, "team_role": None, "campaign": None}
    blank |= {"campaign_role": None, "used_by": None}
    for what, (who, form) in wanted.items():
        told = listed[ids[what]]
        maker = "olga" if who == olga else "mary"
        user = "zoe@example.org" if what == "team" else None
        expected = {**blank, **form, "made_by": maker, "used_by": user, "alive": user is None}
        assert {name: told[name] for name in expected} == expected, what
        assert (told["used_at"] is None) == (user is None)
