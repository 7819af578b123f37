"""Which teams take part in a campaign, and who organises it: who changes that, and that nothing else changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select, update

from campaigns.accounts.accounts import Unconfirmed
from campaigns.accounts.principal import COMMAND_LINE, NOBODY, Principal, principal_of_session
from campaigns.changes import lock_for_change
from campaigns.errors import Conflict, Forbidden, NotFound, NotSignedIn
from campaigns.participants import (
    campaign_members,
    join_with_team,
    leave_with_team,
    remove_from_campaign,
    set_campaign_role,
)
from models.database.session import reading, writing
from models.schema.accounts import Account, Invitation, Team
from models.schema.base import now
from models.schema.campaigns import CampaignMember, Participation
from models.schema.roles import CampaignRole, Joining, Scope, SiteRole, Visibility
from tests.service.campaigns import submit_output, with_test_set
from tests.service.people import audited
from tests.service.service import Service

ORGANISER, VIEWER = CampaignRole.ORGANISER, CampaignRole.VIEWER


class Site:
    """Olga organises an open, an invited and a private campaign; mary leads the team quay, in which zoe is."""

    def __init__(self, service: Service) -> None:
        self.service, self.engine = service, service.engine
        self.accounts = {name: service.account(name) for name in ("olga", "mary", "zoe", "eve", "vera")}
        self.accounts["root"] = service.account("root", SiteRole.ADMINISTRATOR)
        self.teams = {
            "quay": service.team("quay", self.accounts["mary"], self.accounts["zoe"]),
            "pier": service.team("pier", self.accounts["eve"]),
        }
        olga = (self.accounts["olga"],)
        self.campaigns = {
            "open": service.campaign("open", organisers=olga, joining=Joining.OPEN),
            "invited": service.campaign("invited", organisers=olga, joining=Joining.INVITED),
            "hush": service.campaign("hush", organisers=olga, joining=Joining.OPEN, visibility=Visibility.PRIVATE),
        }

    def principal(self, name: str) -> Principal:
        if name in ("nobody", "command line"):
            return NOBODY if name == "nobody" else COMMAND_LINE
        name, _, scope = name.partition(" with ")
        with reading(self.engine) as connection:
            found = principal_of_session(connection, self.service.session(self.accounts[name]))
        return replace(found, scopes=frozenset({Scope(scope)})) if scope else found

    def taking_part(self) -> set[tuple[str, str]]:
        names = {number: name for name, number in self.campaigns.items()}
        with reading(self.engine) as connection:
            rows = connection.execute(
                select(Participation.campaign_id, Team.name).join(Team, Team.id == Participation.team_id)
            )
            return {(names[row.campaign_id], row.name) for row in rows}

    def joined(self, who: str, campaign: str, team: str = "quay") -> bool:
        principal = self.principal(who)
        with writing(self.engine) as connection:
            return join_with_team(connection, principal, campaign, team)

    def members(self) -> set[tuple[int, int, str]]:
        with reading(self.engine) as connection:
            rows = connection.execute(
                select(CampaignMember.campaign_id, CampaignMember.account_id, CampaignMember.role)
            )
            return {tuple(row) for row in rows}


@pytest.fixture
def site(service: Service) -> Site:
    return Site(service)


@pytest.mark.parametrize(
    ("who", "campaign", "result"),
    [
        ("mary", "open", True),
        ("mary", "invited", Forbidden),
        ("mary", "hush", NotFound),
        ("mary", "nowhere", NotFound),
        ("mary with read", "open", Forbidden),
        ("mary with submit", "open", True),
        ("zoe", "open", Forbidden),
        ("eve", "open", Forbidden),
        ("nobody", "open", NotSignedIn),
        ("olga", "open", False),
        ("olga", "hush", False),
        ("olga with submit", "open", Forbidden),
        ("root", "hush", True),
        ("root with submit", "hush", Forbidden),
        ("command line", "hush", True),
    ],
)
def test_who_lets_a_team_take_part(site: Site, who: str, campaign: str, result: bool | type[Exception]) -> None:
    if isinstance(result, bool):
        assert site.joined(who, campaign) is result
        with pytest.raises(Conflict):
            site.joined(who, campaign)
        with pytest.raises(NotFound if who in ("olga", "root", "command line") else Forbidden):
            site.joined(who, campaign, "no team")
    else:
        with pytest.raises(result):
            site.joined(who, campaign)
    assert site.taking_part() == ({(campaign, "quay")} if result is True else set())
    with reading(site.engine) as connection:
        assert len(connection.execute(select(Invitation.id)).all()) == (result is False)


def test_a_team_is_invited_once_and_not_where_it_takes_part(site: Site) -> None:
    assert site.joined("olga", "open") is False
    with pytest.raises(Conflict) as invited:
        site.joined("olga", "open")
    assert str(invited.value) == ("The team quay has already been invited. It participates once its lead has accepted.")
    assert site.joined("root", "open") is True
    with pytest.raises(Conflict) as there:
        site.joined("olga", "open")
    assert str(there.value) == "The team quay already participates in this campaign."
    with reading(site.engine) as connection:
        assert len(connection.execute(select(Invitation.id)).all()) == 1


@pytest.mark.parametrize(
    ("over", "values"),
    [
        ("", {}),
        ("used", {"used_at": 1.0}),
        ("too old", {"expires_at": 1.0}),
        ("by one who is disabled", {"disabled_at": 1.0}),
        ("by one who organises no more", {"role": VIEWER}),
        ("by one who organises another", {}),
    ],
)
def test_an_invitation_of_a_team_is_good_once_and_as_long_as_its_maker_could_make_it(
    site: Site, over: str, values: dict[str, Any]
) -> None:
    """Those to other campaigns, and of other teams, stay."""
    for campaign, team in (("open", "quay"), ("hush", "pier"), ("hush", "quay")):
        assert site.joined("olga", campaign, team) is False
    mine = Invitation.id == 3
    with writing(site.engine) as connection:
        if over.startswith("by"):
            if "disabled_at" in values:
                connection.execute(update(Account).where(Account.id == site.accounts["olga"]).values(**values))
            hush = CampaignMember.campaign_id == site.campaigns["hush"]
            if "role" in values:
                connection.execute(update(CampaignMember).where(hush).values(**values))
            elif "another" in over:
                connection.execute(CampaignMember.__table__.delete().where(hush))  # type: ignore[attr-defined]
        elif values:
            connection.execute(update(Invitation).where(mine).values(**values))
    for who in ("zoe", "eve", "vera"):
        with pytest.raises(NotFound):
            site.joined(who, "hush")
    if over:
        with pytest.raises(NotFound):
            site.joined("mary", "hush")
        assert site.taking_part() == set()
        return
    with pytest.raises(Forbidden, match="cannot be used to"):
        site.joined("mary with read", "hush")
    assert site.joined("mary", "hush")
    assert site.taking_part() == {("hush", "quay")}
    with reading(site.engine) as connection:
        used = connection.execute(select(Invitation.used_at, Invitation.used_by).order_by(Invitation.id)).all()
    assert [row.used_by for row in used] == [None, None, site.accounts["mary"]]
    assert [row.used_at is not None for row in used] == [False, False, True]


def test_numbers_are_free_ones_of_the_campaign(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    monkeypatch.setattr("campaigns.participants.secrets.randbelow", lambda amount: drawn.append(amount) or 0)
    for campaign, team in (("open", "quay"), ("hush", "pier"), ("open", "pier")):
        site.joined("root", campaign, team)
    with reading(site.engine) as connection:
        rows = connection.execute(select(Participation.campaign_id, Participation.team_id, Participation.number))
        numbers = {(row.campaign_id, row.team_id): row.number for row in rows}
    opened, hush = site.campaigns["open"], site.campaigns["hush"]
    quay, pier = site.teams["quay"], site.teams["pier"]
    assert numbers == {(opened, quay): 1, (hush, pier): 1, (opened, pier): 2}
    assert drawn == [99, 99, 98], "from many, so that a number says nothing"


@pytest.mark.parametrize(
    ("who", "error"),
    [
        ("mary", None),
        ("olga", None),
        ("root", None),
        ("command line", None),
        ("zoe", Forbidden),
        ("eve", Forbidden),
        ("nobody", NotSignedIn),
        ("mary with read", Forbidden),
        ("olga with submit", Forbidden),
    ],
)
def test_who_lets_a_team_leave(site: Site, who: str, error: type[Exception] | None) -> None:
    for campaign, team in (("open", "quay"), ("open", "pier"), ("invited", "quay")):
        site.joined("command line", campaign, team)
    before, principal = site.taking_part(), site.principal(who)
    with writing(site.engine) as connection:
        if error is None:
            leave_with_team(connection, principal, "open", "quay")
        else:
            with pytest.raises(error):
                leave_with_team(connection, principal, "open", "quay")
    assert site.taking_part() == before - ({("open", "quay")} if error is None else set())
    with writing(site.engine) as connection, pytest.raises(NotFound):
        leave_with_team(connection, COMMAND_LINE, "hush", "quay")


def test_a_team_that_has_submitted_stays_in_that_campaign(site: Site) -> None:
    for campaign, team in (("open", "quay"), ("open", "pier"), ("invited", "quay")):
        site.joined("command line", campaign, team)
    for campaign, team in (("open", "pier"), ("invited", "quay")):
        with_test_set(site.engine, campaign)
        submit_output(site.engine, campaign, team, "mast", b"kocka\npes\ndum\n")
    with writing(site.engine) as connection:
        for campaign, team in (("open", "pier"), ("invited", "quay")):
            with pytest.raises(Conflict, match="has submissions"):
                leave_with_team(connection, COMMAND_LINE, campaign, team)
        leave_with_team(connection, COMMAND_LINE, "open", "quay")
    assert site.taking_part() == {("open", "pier"), ("invited", "quay")}


def test_members_of_a_campaign_change_one_by_one_and_an_organiser_stays(site: Site) -> None:
    olga, vera, eve = (site.accounts[name] for name in ("olga", "vera", "eve"))
    opened, others = (
        site.campaigns["open"],
        site.members() - {(site.campaigns["open"], site.accounts["olga"], ORGANISER)},
    )
    principal = site.principal("olga")
    with writing(site.engine) as connection:
        access = lock_for_change(connection, principal, "open")
        with pytest.raises(Conflict, match="last organiser"):
            set_campaign_role(connection, access, "olga@example.org", VIEWER)
        with pytest.raises(Conflict, match="last organiser"):
            remove_from_campaign(connection, access, olga)
        with pytest.raises(NotFound, match="Send an invitation"):
            set_campaign_role(connection, access, "new@example.org", VIEWER)
        with pytest.raises(NotFound):
            remove_from_campaign(connection, access, vera)
        assert set_campaign_role(connection, access, "vera@example.org", VIEWER).role == VIEWER
        assert set_campaign_role(connection, access, "vera@example.org", VIEWER).role == VIEWER
        set_campaign_role(connection, lock_for_change(connection, COMMAND_LINE, "hush"), "vera@example.org", VIEWER)
        set_campaign_role(connection, access, "eve@example.org", VIEWER)
        with pytest.raises(Conflict, match="last organiser"):
            remove_from_campaign(connection, access, olga)
        set_campaign_role(connection, access, "vera@example.org", ORGANISER)
        assert [
            (each.account_id, each.email, each.name, each.role) for each in campaign_members(connection, opened)
        ] == [
            (olga, "olga@example.org", "olga", ORGANISER),
            (vera, "vera@example.org", "vera", ORGANISER),
            (eve, "eve@example.org", "eve", VIEWER),
        ]
        set_campaign_role(connection, access, "olga@example.org", VIEWER)
        remove_from_campaign(connection, access, eve)
    others |= {(site.campaigns["hush"], vera, VIEWER)}
    assert site.members() == {(opened, olga, VIEWER), (opened, vera, ORGANISER), *others}
    of_open = [(who, action, subject) for who, action, subject in audited(site.service) if "campaign open" in subject]
    assert of_open == [
        ("olga@example.org", action, f"{name}@example.org in campaign open")
        for action, name in (
            *(("member.set", "vera"), ("member.set", "eve"), ("member.set", "vera"), ("member.set", "olga")),
            ("member.remove", "eve"),
        )
    ]


@pytest.mark.parametrize("before", [None, VIEWER])
@pytest.mark.parametrize("role", [VIEWER, ORGANISER])
def test_whose_address_only_its_owner_says_becomes_no_more(
    site: Site, before: CampaignRole | None, role: CampaignRole
) -> None:
    vera = site.accounts["vera"]
    with writing(site.engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "open")
        if before is not None:
            set_campaign_role(connection, access, "vera@example.org", before)
        mine = update(Account).where(Account.id == vera)
        connection.execute(mine.values(claimed=True, verified_at=None))
        if before == role:
            set_campaign_role(connection, access, "vera@example.org", role)
        else:
            with pytest.raises(Unconfirmed):
                set_campaign_role(connection, access, "vera@example.org", role)
        connection.execute(mine.values(verified_at=now()))
        set_campaign_role(connection, access, "vera@example.org", role)
    assert (site.campaigns["open"], vera, role) in site.members()
