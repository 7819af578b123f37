"""Invitations: who makes which, how long they are good, and what they give."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from sqlalchemy import Connection, select, update

from campaigns.accounts.accounts import Unconfirmed
from campaigns.accounts.principal import COMMAND_LINE, Principal
from campaigns.errors import BadRequest, Conflict, Forbidden, NotFound
from campaigns.invitations.email_texts import invited_to
from campaigns.invitations.invitations import (
    InvitationInfo,
    accept_invitation,
    clear_mail_secret,
    find_invitation,
    issue_mail_secret,
    list_invitations,
    make_invitation,
    may_withdraw,
    read_invitation,
    withdraw_invitation,
)
from models.database.session import writing
from models.schema.accounts import Account, AuditEntry, Invitation, Membership, Team
from models.schema.base import now
from models.schema.campaigns import CampaignMember, Participation
from models.schema.roles import CampaignRole, SiteRole, TeamRole
from tests.service.people import audited
from tests.service.service import Service

ADMINISTRATOR, ORGANISER, PARTICIPANT, VIEWER = (
    *(SiteRole.ADMINISTRATOR, SiteRole.ORGANISER, SiteRole.PARTICIPANT, SiteRole.VIEWER),
)
LEAD, MEMBER = TeamRole.LEAD, TeamRole.MEMBER
HOUR = 3600.0


def somebody(account: int, role: SiteRole = PARTICIPANT, **teams: TeamRole) -> Principal:
    return Principal(account, f"account{account}@example.org", role=role, teams=teams)


def made(connection: Connection, actor: Principal = COMMAND_LINE, **values: Any) -> tuple[InvitationInfo, str]:
    return make_invitation(connection, actor, HOUR, **values)


@pytest.fixture
def people(service: Service) -> dict[str, int]:
    """Mary leads the team pier, in which zoe is; olga organises the campaign wmt."""
    found = {name: service.account(name) for name in ("mary", "zoe", "olga", "eve")}
    service.team("pier", found["mary"], found["zoe"])
    service.team("quay", found["zoe"])
    service.campaign("wmt", organisers=(found["olga"],), title="The task")
    service.campaign("other")
    return found


def test_who_makes_which(service: Service, people: dict[str, int]) -> None:
    zoe, mary = somebody(people["zoe"], pier=MEMBER), somebody(people["mary"], pier=LEAD)
    with writing(service.engine) as connection:
        for role in SiteRole:
            site = somebody(people["eve"], role)
            if role in (ADMINISTRATOR, ORGANISER):
                assert made(connection, site)[0].made_by_id == people["eve"]
            else:
                with pytest.raises(Forbidden):
                    made(connection, site)
            for wanted in SiteRole:
                if role == ADMINISTRATOR or (role == ORGANISER and wanted in (PARTICIPANT, VIEWER)):
                    assert made(connection, site, role=wanted)[0].role == wanted
                else:
                    with pytest.raises(Forbidden):
                        made(connection, site, role=wanted)
        to_team = made(connection, mary, team="pier", team_role=LEAD, email=" Eve@example.org ")[0]
        assert (to_team.team, to_team.team_role, to_team.campaign, to_team.campaign_role) == ("pier", LEAD, None, None)
        assert (to_team.email, to_team.made_by, to_team.wants_team) == ("eve@example.org", "mary", False)
        for actor, error in ((zoe, Forbidden), (somebody(people["eve"], ORGANISER), NotFound)):
            with pytest.raises(error):
                made(connection, actor, team="pier")
        with pytest.raises(BadRequest, match="Create two invitations"):
            made(connection, mary, team="pier", campaign_id=1)
        with pytest.raises(BadRequest):
            made(connection, email="x")
        # That somebody organises the campaign was asked before.
        team = made(connection, zoe, campaign_id=1)[0]
        assert (team.campaign, team.campaign_title, team.campaign_role, team.team_role) == (
            "wmt",
            "The task",
            None,
            None,
        )
        assert (team.wants_team, team.role) == (True, PARTICIPANT)
        viewer = made(connection, zoe, campaign_id=2, campaign_role=CampaignRole.VIEWER)[0]
        assert (viewer.wants_team, viewer.campaign_role) == (False, CampaignRole.VIEWER)
        assert viewer.campaign_title == "other", "a campaign without a title is called by its name"
        assert made(connection, campaign_role=CampaignRole.VIEWER)[0].campaign_role is None
        assert made(connection, team_role=LEAD)[0].team_role is None


def test_an_administrators_word_is_that_of_the_command_line_too(service: Service, people: dict[str, int]) -> None:
    """By it an address needs no other proof; that of an organiser, or of a lead, is nobody's word but theirs."""
    given = {}
    for name, role in (("eve", ADMINISTRATOR), ("olga", ORGANISER), ("mary", PARTICIPANT)):
        with writing(service.engine) as connection:
            connection.execute(update(Account).where(Account.id == people[name]).values(role=role))
            maker = somebody(people[name], role, pier=LEAD)
            given[name] = made(connection, maker, team="pier" if role == PARTICIPANT else None)[0].made_by_administrator
    with writing(service.engine) as connection:
        given["command line"] = made(connection)[0].made_by_administrator
    assert given == {"eve": True, "olga": False, "mary": False, "command line": True}


def test_everybody_reads_what_he_is_invited_to(service: Service, people: dict[str, int]) -> None:
    with writing(service.engine) as connection:
        read = [
            invited_to(made(connection, **values)[0], lambda name: f"<{name}>")
            for values in (
                {"team": "pier", "team_role": LEAD},
                {"team": "pier", "team_role": MEMBER},
                {"team": "pier"},
                {"role": ORGANISER},
                {"campaign_id": 1},
                {"campaign_id": 1, "campaign_role": CampaignRole.ORGANISER},
                {"campaign_id": 1, "campaign_role": CampaignRole.VIEWER},
                {"campaign_id": 2},
            )
        ]
    assert read == [
        "to lead the team <pier>",
        "to join the team <pier>",
        "to join the team <pier>",
        "to create an account (organiser)",
        "to participate in the campaign <The task> with a team",
        "to organise the campaign <The task>",
        "to view the campaign <The task>",
        "to participate in the campaign <other> with a team",
    ]


def test_what_the_audit_log_says_of_one(service: Service, people: dict[str, int]) -> None:
    with writing(service.engine) as connection:
        made(connection)
        made(connection, somebody(people["mary"], pier=LEAD), team="pier", email="eve@example.org")
        made(connection, campaign_id=1, campaign_role=CampaignRole.VIEWER)
        entries = connection.execute(select(AuditEntry).order_by(AuditEntry.id)).all()
    assert [(each.action, each.subject, each.campaign_id, each.details) for each in entries] == [
        ("invitation.make", "invitation 1", None, {"role": "participant"}),
        (
            *("invitation.make", "invitation 2", None),
            {"email": "eve@example.org", "role": "participant", "team": "pier", "team_role": "member"},
        ),
        ("invitation.make", "invitation 3", 1, {"role": "participant", "as": "viewer"}),
    ]


@pytest.mark.parametrize(
    ("values", "good"),
    [
        ({"used_by": None}, True),
        ({"expires_at": now() + 60}, True),
        ({"expires_at": now() - 60}, False),
        ({"used_at": now() - 60}, False),
    ],
)
def test_how_long_it_is_good(service: Service, people: dict[str, int], values: dict[str, Any], good: bool) -> None:
    with writing(service.engine) as connection:
        known, secret = made(connection)
        assert known.expires_at - known.created_at == pytest.approx(HOUR, abs=60)
        other = made(connection)[1]
        connection.execute(update(Invitation).where(Invitation.id == known.id).values(**values))
        assert find_invitation(connection, other).id == known.id + 1
        assert read_invitation(connection, known.id).alive == good
        assert [each.id for each in list_invitations(connection, open_only=True)] == ([2, 1] if good else [2])
        if good:
            assert find_invitation(connection, secret).id == known.id
        else:
            with pytest.raises(NotFound):
                find_invitation(connection, secret)
            with pytest.raises(NotFound):
                accept_invitation(connection, somebody(people["eve"]), secret)
        for wrong in (secret + "x", "", "none"):
            with pytest.raises(NotFound):
                find_invitation(connection, wrong)
        with pytest.raises(NotFound):
            read_invitation(connection, 99)


def test_they_are_listed_newest_first_by_what_they_are_for(service: Service, people: dict[str, int]) -> None:
    mary, olga = somebody(people["mary"], pier=LEAD), somebody(people["olga"], ORGANISER)
    with writing(service.engine) as connection:
        for actor, values in (
            (mary, {"team": "pier"}),
            (olga, {"campaign_id": 1}),
            (olga, {}),
            (olga, {"campaign_id": 2}),
            (COMMAND_LINE, {"team": "pier"}),
        ):
            made(connection, actor, **values)
        connection.execute(update(Invitation).where(Invitation.id == 3).values(used_at=now(), used_by=people["eve"]))

        def ids(**asked: Any) -> list[int]:
            return [each.id for each in list_invitations(connection, **asked)]

        assert ids() == [5, 4, 3, 2, 1]
        assert (ids(made_by=people["olga"]), ids(made_by=people["mary"])) == ([4, 3, 2], [1])
        assert (ids(team_id=1), ids(team_id=2)) == ([5, 1], [])
        assert (ids(campaign_id=1), ids(campaign_id=2)) == ([2], [4])
        assert ids(campaign_id=1, made_by=people["mary"]) == []
        assert (ids(limit=2), ids(limit=2, before=3), ids(before=1)) == ([5, 4, 3], [2, 1], [])
        assert (ids(open_only=True), ids(open_only=True, made_by=people["olga"])) == ([5, 4, 2, 1], [4, 2])
        assert read_invitation(connection, 3).used_by == "eve@example.org"


def test_only_what_is_good_is_withdrawn(service: Service, people: dict[str, int]) -> None:
    with writing(service.engine) as connection:
        known, secret = made(connection, campaign_id=1)
        other, others = made(connection)
        withdraw_invitation(connection, COMMAND_LINE, known)
        withdraw_invitation(connection, COMMAND_LINE, known)
        with pytest.raises(NotFound):
            find_invitation(connection, secret)
        assert find_invitation(connection, others).id == other.id
        connection.execute(update(Invitation).where(Invitation.id == other.id).values(used_at=now()))
        withdraw_invitation(connection, COMMAND_LINE, other)
        assert read_invitation(connection, other.id).expires_at > read_invitation(connection, known.id).expires_at
        asked = select(AuditEntry.action, AuditEntry.subject, AuditEntry.campaign_id).order_by(AuditEntry.id)
        assert [tuple(row) for row in connection.execute(asked)][2:] == [("invitation.withdraw", "invitation 1", 1)]


def test_who_may_withdraw(service: Service, people: dict[str, int]) -> None:
    mary, zoe, eve = somebody(people["mary"], pier=LEAD), somebody(people["zoe"], pier=MEMBER), somebody(people["eve"])
    with writing(service.engine) as connection:
        by_command, by_mary = made(connection)[0], made(connection, mary, team="pier")[0]
        by_olga = made(connection, somebody(people["olga"], ORGANISER))[0]
    for known in (by_command, by_mary, by_olga):
        for actor in (COMMAND_LINE, mary, zoe, eve, Principal()):
            assert may_withdraw(actor, known) == (actor is COMMAND_LINE or (known is by_mary and actor is mary))
    assert may_withdraw(somebody(people["olga"]), by_olga)
    assert may_withdraw(somebody(people["mary"]), by_mary), "his own, though he leads no more"
    assert may_withdraw(somebody(people["eve"], pier=LEAD), by_mary)
    assert not may_withdraw(somebody(people["eve"], quay=LEAD), by_mary)


def test_it_is_used_once_by_whom_it_is_for(service: Service, people: dict[str, int]) -> None:
    eve = Principal(people["eve"], "eve@example.org", role=PARTICIPANT)
    with writing(service.engine) as connection:
        _, secret = made(connection, team="pier", team_role=LEAD, email="eve@example.org")
        _, other = made(connection, team="pier")
        for who, error in ((Principal(), NotFound), (Principal(people["olga"], "olga@example.org"), Forbidden)):
            with pytest.raises(error):
                accept_invitation(connection, who, secret)
        known = accept_invitation(connection, eve, secret)
        assert (known.id, known.team) == (1, "pier")
        rows = connection.execute(select(Membership.account_id, Membership.role).where(Membership.team_id == 1))
        assert {row.account_id: row.role for row in rows} == {people["mary"]: LEAD, people["zoe"]: MEMBER, 4: LEAD}
        used = read_invitation(connection, 1)
        assert (used.used_by, used.alive, used.used_at is not None) == ("eve@example.org", False, True)
        assert read_invitation(connection, 2).alive
        with pytest.raises(NotFound):
            accept_invitation(connection, eve, secret)
        with pytest.raises(Conflict):
            accept_invitation(connection, eve, other)
    assert ("eve@example.org", "invitation.use", "invitation 1") in audited(service)


@pytest.mark.parametrize(
    ("mailed", "by_mail", "verified"),
    [*product((True, False), (False,), (True, False)), (True, True, True), (True, True, False)],
)
def test_who_was_invited_by_mail_shows_that_the_address_is_his(
    service: Service, people: dict[str, int], mailed: bool, by_mail: bool, verified: bool
) -> None:
    """By the link in the mail, which confirms the address, or because it was confirmed before."""
    eve = replace(somebody(people["eve"]), email="eve@example.org", verified=verified)
    with writing(service.engine) as connection:
        connection.execute(update(Account).values(verified_at=None))
        others = made(connection)[1]
        known, shown = made(connection, team="pier", email="eve@example.org")
        sent = issue_mail_secret(connection, known.id) if mailed else ""
        for secret in (others, shown):
            assert not find_invitation(connection, secret).proves_address
        assert (read_invitation(connection, known.id - 1).mailed, read_invitation(connection, known.id).mailed) == (
            *(False, mailed),
        )
        if mailed:
            assert find_invitation(connection, sent).proves_address
        if mailed and not by_mail and not verified:
            with pytest.raises(Unconfirmed):
                accept_invitation(connection, eve, shown)
            clear_mail_secret(connection, known.id)
        accept_invitation(connection, eve, sent if by_mail else shown)
        asked = select(Account.id).where(Account.verified_at.is_not(None))
        assert list(connection.scalars(asked)) == ([people["eve"]] if by_mail and not verified else [])
    noted = ("eve@example.org", "account.verify", "account eve@example.org") in audited(service)
    assert noted == (by_mail and not verified)


def test_that_a_mail_did_not_go_out_is_noted_of_one_invitation(service: Service, people: dict[str, int]) -> None:
    with writing(service.engine) as connection:
        ids = [made(connection, email="eve@example.org")[0].id for _ in range(3)]
        secrets = {each: issue_mail_secret(connection, each) for each in (2, 3, 1)}
        assert sorted(ids) == sorted(secrets)
        clear_mail_secret(connection, 2)
        assert [each.mailed for each in list_invitations(connection)] == [True, False, True]
        assert [find_invitation(connection, secrets[each]).id for each in (1, 3)] == [1, 3]
        with pytest.raises(NotFound):
            find_invitation(connection, secrets[2])


def test_a_team_of_ones_own_is_let_into_a_campaign(service: Service, people: dict[str, int]) -> None:
    mary = somebody(people["mary"], pier=LEAD, quay=MEMBER)
    with writing(service.engine) as connection:
        secrets = [made(connection, campaign_id=1)[1] for _ in range(6)]
        for wrong in ({}, {"team": "quay"}, {"team": "none"}, {"new_team": "  "}):
            with pytest.raises(BadRequest, match="Choose one of the teams"):
                accept_invitation(connection, mary, secrets.pop(), **wrong)
        accept_invitation(connection, mary, secrets.pop(), team="pier")
        accept_invitation(connection, mary, secrets.pop(), team="pier", new_team="mole")
        there = select(Team.name, Participation.campaign_id).join(Team, Team.id == Participation.team_id)
        assert [tuple(row) for row in connection.execute(there.order_by(Team.id))] == [("pier", 1), ("mole", 1)]
        assert not connection.execute(select(CampaignMember).where(CampaignMember.account_id == people["mary"])).all()


@pytest.mark.parametrize(
    ("before", "role", "after"),
    [
        (None, CampaignRole.VIEWER, CampaignRole.VIEWER),
        (None, CampaignRole.ORGANISER, CampaignRole.ORGANISER),
        (CampaignRole.VIEWER, CampaignRole.ORGANISER, CampaignRole.ORGANISER),
        (CampaignRole.ORGANISER, CampaignRole.VIEWER, CampaignRole.ORGANISER),
    ],
)
def test_nobody_becomes_less_in_a_campaign(
    service: Service, people: dict[str, int], before: CampaignRole | None, role: CampaignRole, after: CampaignRole
) -> None:
    eve = people["eve"]
    with writing(service.engine) as connection:
        rows = [(2, eve, CampaignRole.VIEWER), *([(1, eve, before)] if before else [])]
        for campaign, account, had in rows:
            row = {"campaign_id": campaign, "account_id": account, "role": had}
            connection.execute(CampaignMember.__table__.insert().values(**row))
        accept_invitation(connection, somebody(eve), made(connection, campaign_id=1, campaign_role=role)[1])
        found = connection.execute(select(CampaignMember.campaign_id, CampaignMember.account_id, CampaignMember.role))
        assert {(row.campaign_id, row.account_id): row.role for row in found} == {
            (1, people["olga"]): CampaignRole.ORGANISER,
            (1, eve): after,
            (2, eve): CampaignRole.VIEWER,
        }
        entry = connection.execute(select(AuditEntry).order_by(AuditEntry.id.desc())).first()
    assert entry is not None
    assert (entry.action, entry.campaign_id, entry.details["role"]) == ("member.set", 1, [before, role])


@pytest.mark.parametrize(
    ("maker", "invitation", "change", "good"),
    [
        ("mary", {"team": "pier"}, {}, True),
        ("mary", {"team": "pier"}, {"team": MEMBER}, False),
        ("mary", {"team": "pier"}, {"team": None}, False),
        ("mary", {"team": "pier"}, {"role": ADMINISTRATOR, "team": None}, True),
        ("mary", {"team": "pier"}, {"role": ADMINISTRATOR, "disabled_at": 1.0}, False),
        ("mary", {"team": "pier"}, {"disabled_at": 1.0}, False),
        ("olga", {"campaign_id": 1}, {}, True),
        ("olga", {"campaign_id": 2}, {}, False),
        ("olga", {"campaign_id": 1}, {"campaign": CampaignRole.VIEWER}, False),
        ("olga", {"campaign_id": 1}, {"campaign": None}, False),
        ("olga", {}, {"role": ORGANISER}, True),
        ("olga", {}, {"role": PARTICIPANT}, False),
        ("olga", {"role": VIEWER}, {"role": ORGANISER}, True),
        ("olga", {"role": ORGANISER}, {"role": ORGANISER}, False),
        ("olga", {"role": ORGANISER}, {"role": ADMINISTRATOR}, True),
        ("olga", {"campaign_id": 1, "role": ORGANISER}, {"role": ORGANISER}, False),
    ],
)
def test_it_is_good_as_long_as_its_maker_could_make_it(
    service: Service, people: dict[str, int], maker: str, invitation: dict[str, Any], change: dict[str, Any], good: bool
) -> None:
    account = people[maker]
    with writing(service.engine) as connection:
        _, secret = made(connection, somebody(account, ADMINISTRATOR, pier=LEAD), **invitation)
        for key, table in (("team", Membership), ("campaign", CampaignMember)):
            mine = table.account_id == account
            if key in change and change[key] is None:
                connection.execute(table.__table__.delete().where(mine))
            elif key in change:
                connection.execute(update(table).where(mine).values(role=change[key]))
        values = {key: value for key, value in change.items() if key in ("role", "disabled_at")}
        if values:
            connection.execute(update(Account).where(Account.id == account).values(**values))
        if good:
            assert find_invitation(connection, secret).made_by_id == account
        else:
            with pytest.raises(NotFound):
                find_invitation(connection, secret)


def test_an_invitation_to_a_team_that_says_no_role_makes_a_member(service: Service, people: dict[str, int]) -> None:
    with writing(service.engine) as connection:
        _, secret = made(connection, team="pier", team_role=LEAD)
        connection.execute(update(Invitation).values(team_role=None))
        accept_invitation(connection, somebody(people["eve"]), secret)
        role = connection.scalar(select(Membership.role).where(Membership.account_id == people["eve"]))
    assert role == MEMBER
