"""Teams: what they are called, who leads them, who joins and goes."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Connection, insert, select, update

from campaigns.accounts.principal import COMMAND_LINE, Principal
from campaigns.accounts.teams import (
    MAX_AFFILIATION_LENGTH,
    MAX_TEAMS,
    add_member,
    campaigns_of,
    change_team,
    create_team,
    join_team,
    leads_team,
    members_of,
    read_team,
    remove_from_team,
    set_member_role,
    team_for,
    teams_of,
)
from campaigns.errors import BadRequest, Conflict, Forbidden, NotFound
from models.database.session import writing
from models.schema.accounts import AuditEntry, Team
from models.schema.campaigns import Campaign, Participation
from models.schema.corpus import System
from models.schema.roles import SiteRole, TeamRole
from tests.service.people import audited
from tests.service.service import Service

LEAD, MEMBER = TeamRole.LEAD, TeamRole.MEMBER


def somebody(account: int, role: SiteRole = SiteRole.PARTICIPANT, **teams: TeamRole) -> Principal:
    return Principal(account, f"account {account}", role=role, teams=teams)


def roles(connection: Connection, team: str) -> dict[int, TeamRole]:
    return {each.account_id: each.role for each in members_of(connection, read_team(connection, team).id)}


def test_who_founds_a_team_leads_it(service: Service) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    with writing(service.engine) as connection:
        made = create_team(connection, somebody(mary), " pier ", publication_name="The  Pier ", affiliation=" A \t B ")
        assert (made.name, made.publication_name, made.affiliation, made.members) == ("pier", "The Pier", "A B", 1)
        assert roles(connection, "pier") == {mary: LEAD}
        create_team(connection, somebody(mary, SiteRole.ADMINISTRATOR), "quay", lead=zoe)
        assert roles(connection, "quay") == {zoe: LEAD}
        assert create_team(connection, COMMAND_LINE, "mole").members == 0
        for role in (SiteRole.PARTICIPANT, SiteRole.ORGANISER):
            create_team(connection, somebody(zoe, role), f"of {role}")
        with pytest.raises(Forbidden):
            create_team(connection, somebody(zoe, SiteRole.VIEWER), "looks")
        entry = connection.execute(select(AuditEntry).order_by(AuditEntry.id)).first()
    assert entry is not None
    assert (entry.action, entry.subject) == ("team.found", "team pier")
    assert entry.details == {"publication_name": "The Pier", "affiliation": "A B"}


@pytest.mark.parametrize("text", ["Team 7", "team7", "TEAM\u00a0 12", "", "a/b"])
def test_names_that_no_team_can_have(service: Service, text: str) -> None:
    actor = somebody(service.account("mary"))
    with writing(service.engine) as connection:
        with pytest.raises(BadRequest):
            create_team(connection, actor, text)
        if text:
            with pytest.raises(BadRequest, match="publication name"):
                create_team(connection, actor, "pier", publication_name=text)
        assert connection.execute(select(Team)).first() is None


def test_an_affiliation_can_be_long_and_is_seen(service: Service) -> None:
    actor = somebody(service.account("mary"))
    with writing(service.engine) as connection:
        longest = "x" * MAX_AFFILIATION_LENGTH
        assert (MAX_AFFILIATION_LENGTH, MAX_TEAMS) == (200, 20)
        assert create_team(connection, actor, "pier", affiliation=longest).affiliation == longest
        for bad in (longest + "x", "a\u202eb"):
            with pytest.raises(BadRequest):
                create_team(connection, actor, "quay", affiliation=bad)


def test_a_name_that_looks_like_that_of_another_team_is_taken(service: Service) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    actor, leader = somebody(mary), somebody(zoe, quay=LEAD)
    service.team("quay", zoe)
    with writing(service.engine) as connection:
        create_team(connection, actor, "pier", publication_name="The Pier")
        for name in ("PIER", "the pier", "QUAY"):
            with pytest.raises(Conflict):
                create_team(connection, actor, name)
            with pytest.raises(Conflict):
                create_team(connection, actor, "mole", publication_name=name)
        for name in ("Pier", "THE PIER"):
            with pytest.raises(Conflict):
                change_team(connection, leader, "quay", publication_name=name)
        assert change_team(connection, leader, "quay", publication_name="QUAY").publication_name == "QUAY"
        assert change_team(connection, leader, "quay", publication_name="").publication_name == ""
        connection.execute(insert(System).values(name="x", team="Mole"))
        connection.execute(insert(System).values(name="y", team=""))
        with pytest.raises(Conflict):
            create_team(connection, actor, "mole")
        assert create_team(connection, COMMAND_LINE, "mole").name == "mole"


def test_one_account_leads_twenty_teams(service: Service) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    for number in range(MAX_TEAMS - 1):
        service.team(f"t {number}", mary, zoe)
        service.team(f"u {number}", zoe, mary)
    with writing(service.engine) as connection:
        create_team(connection, somebody(mary), "the twentieth")
        with pytest.raises(Conflict, match="which is the maximum"):
            create_team(connection, somebody(mary), "one more")
        create_team(connection, somebody(zoe), "of zoe")
        create_team(connection, COMMAND_LINE, "one more", lead=mary)


def test_a_change_is_of_one_team_by_its_leads(service: Service) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    service.team("pier", mary, zoe)
    service.team("quay", zoe)
    lead = somebody(mary, pier=LEAD)
    with writing(service.engine) as connection:
        for actor, error in ((somebody(zoe, pier=MEMBER, quay=LEAD), Forbidden), (somebody(zoe, quay=LEAD), NotFound)):
            with pytest.raises(error):
                change_team(connection, actor, "pier", affiliation="x")
        quay = read_team(connection, "quay")
        changed = change_team(connection, lead, "pier", affiliation="Port", publication_name="")
        assert (changed.affiliation, changed.publication_name, changed.members) == ("Port", "", 2)
        change_team(connection, lead, "pier", affiliation="Port")
        change_team(connection, COMMAND_LINE, "pier", publication_name="The Pier")
        assert read_team(connection, "quay") == quay
        assert read_team(connection, "pier").affiliation == "Port"
        details = list(connection.scalars(select(AuditEntry.details).order_by(AuditEntry.id)))
    assert details == [{"changes": {"affiliation": ["", "Port"]}}, {"changes": {"publication_name": ["", "The Pier"]}}]


def test_who_sees_which_teams(service: Service) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    for name in ("a", "b", "c"):
        service.team(name, zoe, *([mary] if name == "b" else []))
    both = somebody(mary, a=MEMBER, b=LEAD)
    with writing(service.engine) as connection:

        def names(actor: Principal, **asked: Any) -> list[str]:
            return [each.name for each in teams_of(connection, actor, **asked)]

        assert (names(both), names(COMMAND_LINE), names(somebody(zoe))) == (["a", "b"], ["a", "b", "c"], [])
        assert (names(both, limit=1), names(both, after=1, limit=1), names(both, limit=2)) == (
            *(["a", "b"], ["b"], ["a", "b"]),
        )
        assert names(COMMAND_LINE, limit=1) == ["a", "b"], "one more says that there are more"
        assert names(COMMAND_LINE, after=3) == []
        assert [each.members for each in teams_of(connection, COMMAND_LINE)] == [1, 2, 1]
        assert team_for(connection, both, "a").name == "a"
        assert team_for(connection, COMMAND_LINE, "c").name == "c"
        for actor, name in ((both, "c"), (both, "none"), (COMMAND_LINE, "none")):
            with pytest.raises(NotFound):
                team_for(connection, actor, name)
        assert [leads_team(both, name) for name in ("a", "b", "c")] == [False, True, False]
        assert leads_team(COMMAND_LINE, "c")


def test_members_are_listed_leads_first_and_campaigns_newest_first(service: Service) -> None:
    people = [service.account(name) for name in ("zoe", "mary", "anna", "eve")]
    team, other = service.team("pier", *people[:3]), service.team("quay", people[3])
    service.campaign("old", teams=(team,))
    service.campaign("others", teams=(other,))
    service.campaign("new", teams=(team, other))
    with writing(service.engine) as connection:
        connection.execute(insert(Campaign).values(name="of nobody"))
        assert [each.name for each in members_of(connection, team)] == ["zoe", "anna", "mary"]
        assert (campaigns_of(connection, team), campaigns_of(connection, other)) == (["new", "old"], ["new", "others"])
        connection.execute(Participation.__table__.delete())
        assert campaigns_of(connection, team) == []


def test_accounts_are_admitted_once_by_administrators(service: Service) -> None:
    mary, zoe, anna = (service.account(name) for name in ("mary", "zoe", "anna"))
    service.team("pier", mary)
    quay = service.team("quay", zoe)
    with writing(service.engine) as connection:
        with pytest.raises(Forbidden):
            add_member(connection, somebody(mary, pier=LEAD), "pier", zoe, MEMBER)
        add_member(connection, COMMAND_LINE, "pier", zoe, MEMBER)
        assert roles(connection, "pier") == {mary: LEAD, zoe: MEMBER}
        for account in (mary, zoe):
            with pytest.raises(Conflict):
                add_member(connection, COMMAND_LINE, "pier", account, LEAD)
        for team, account in ((99, anna), (quay, 99)):
            with pytest.raises(NotFound):
                join_team(connection, COMMAND_LINE, team, account, MEMBER)
        join_team(connection, somebody(anna), quay, anna, LEAD)
        assert roles(connection, "quay") == {zoe: LEAD, anna: LEAD}
    assert audited(service) == [
        ("command line", "team.join", "team pier"),
        (f"account {anna}", "team.join", "team quay"),
    ]


def test_a_team_keeps_a_lead(service: Service) -> None:
    mary, zoe, anna = (service.account(name) for name in ("mary", "zoe", "anna"))
    service.team("pier", mary, zoe, anna)
    service.team("quay", zoe, mary)
    lead = somebody(mary, pier=LEAD, quay=MEMBER)
    with writing(service.engine) as connection:
        for act in (
            lambda: set_member_role(connection, lead, "pier", mary, MEMBER),
            lambda: remove_from_team(connection, lead, "pier", mary),
            lambda: remove_from_team(connection, COMMAND_LINE, "pier", mary),
        ):
            with pytest.raises(Conflict, match="last lead"):
                act()
        set_member_role(connection, lead, "pier", mary, LEAD)
        set_member_role(connection, lead, "pier", zoe, MEMBER)
        assert audited(service) == [], "nothing has changed"
        set_member_role(connection, lead, "pier", zoe, LEAD)
        assert roles(connection, "pier") == {mary: LEAD, zoe: LEAD, anna: MEMBER}
        assert roles(connection, "quay") == {zoe: LEAD, mary: MEMBER}
        set_member_role(connection, lead, "pier", mary, MEMBER)
        assert roles(connection, "pier") == {zoe: LEAD, mary: MEMBER, anna: MEMBER}
        entries = list(connection.scalars(select(AuditEntry.details).order_by(AuditEntry.id)))
    assert entries == [
        {"member": "zoe@example.org", "before": "member", "after": "lead"},
        {"member": "mary@example.org", "before": "lead", "after": "member"},
    ]


def test_leads_remove_others_and_everybody_may_go(service: Service) -> None:
    mary, zoe, anna = (service.account(name) for name in ("mary", "zoe", "anna"))
    service.team("pier", mary, zoe, anna)
    service.team("quay", mary, zoe)
    with writing(service.engine) as connection:
        with pytest.raises(Forbidden):
            remove_from_team(connection, somebody(zoe, pier=MEMBER), "pier", anna)
        with pytest.raises(NotFound):
            remove_from_team(connection, somebody(mary, pier=LEAD), "pier", 99)
        with pytest.raises(NotFound):
            remove_from_team(connection, somebody(anna, pier=MEMBER), "quay", anna)
        remove_from_team(connection, somebody(zoe, pier=MEMBER), "pier", zoe)
        remove_from_team(connection, somebody(mary, pier=LEAD), "pier", anna)
        assert roles(connection, "pier") == {mary: LEAD}
        assert roles(connection, "quay") == {mary: LEAD, zoe: MEMBER}
        actions = [row[0] for row in connection.execute(select(AuditEntry.action).order_by(AuditEntry.id))]
        connection.execute(update(Team).values(affiliation="x"))
    assert actions == ["team.leave", "team.remove"]
