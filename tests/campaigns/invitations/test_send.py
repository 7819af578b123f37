"""Which invitations somebody sees and takes back: of teams, of campaigns, and those that they made themselves."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from campaigns.accounts.principal import Principal
from campaigns.errors import Forbidden, NotFound
from campaigns.invitations.invitations import make_invitation
from campaigns.invitations.send import invite, visible_invitations, withdraw_visible_invitation
from models.database.session import reading, writing
from models.schema.accounts import Invitation
from models.schema.base import now
from models.schema.campaigns import CampaignMember
from models.schema.roles import CampaignRole, Scope, SiteRole, TeamRole, Visibility
from tests.service.service import Service

HOUR = 3600.0
OF_TEAM, OF_CAMPAIGN, OF_OTHER_CAMPAIGN, OF_SITE = 1, 2, 3, 4
"""Numbers of invitations, in the order in which they are made."""


@pytest.fixture
def people(service: Service) -> dict[str, Principal]:
    """Mary leads the team pier, and zoe is in it; olga organises the private campaign wmt, and vera views it.

    Otto organises another campaign, oscar made an invitation to the server, and anna administrates it.
    """
    roles = {"oscar": SiteRole.ORGANISER, "anna": SiteRole.ADMINISTRATOR}
    teams = {"mary": {"pier": TeamRole.LEAD}, "zoe": {"pier": TeamRole.MEMBER}}
    names = ("mary", "zoe", "olga", "vera", "otto", "oscar", "anna", "eve")
    accounts = {name: service.account(name, roles.get(name, SiteRole.PARTICIPANT)) for name in names}
    found = {
        name: Principal(
            *(account, f"{name}@example.org", name, roles.get(name, SiteRole.PARTICIPANT)),
            scopes=frozenset(Scope),
            teams=teams.get(name, {}),
        )
        for name, account in accounts.items()
    }
    service.team("pier", accounts["mary"], accounts["zoe"])
    wmt = service.campaign("wmt", organisers=(accounts["olga"],), visibility=Visibility.PRIVATE)
    other = service.campaign("other", organisers=(accounts["otto"],), visibility=Visibility.PRIVATE)
    with writing(service.engine) as connection:
        connection.execute(
            CampaignMember.__table__.insert().values(
                campaign_id=wmt, account_id=accounts["vera"], role=CampaignRole.VIEWER
            )
        )
        for actor, what in (
            ("mary", {"team": "pier"}),
            ("olga", {"campaign_id": wmt, "campaign_role": CampaignRole.VIEWER}),
            ("otto", {"campaign_id": other, "campaign_role": CampaignRole.VIEWER}),
            ("oscar", {}),
        ):
            make_invitation(connection, found[actor], HOUR, **what)
    return found


@pytest.mark.parametrize(
    ("who", "asked", "seen"),
    [
        ("mary", {"team": "pier"}, [OF_TEAM]),
        ("anna", {"team": "pier"}, [OF_TEAM]),
        ("zoe", {"team": "pier"}, Forbidden),
        ("olga", {"team": "pier"}, NotFound),
        ("olga", {"campaign": "wmt"}, [OF_CAMPAIGN]),
        ("anna", {"campaign": "wmt"}, [OF_CAMPAIGN]),
        ("vera", {"campaign": "wmt"}, Forbidden),
        ("otto", {"campaign": "wmt"}, NotFound),
        ("otto", {"campaign": "other"}, [OF_OTHER_CAMPAIGN]),
        ("mary", {}, [OF_TEAM]),
        ("zoe", {}, []),
        ("oscar", {}, [OF_SITE]),
        ("anna", {}, [OF_SITE, OF_OTHER_CAMPAIGN, OF_CAMPAIGN, OF_TEAM]),
    ],
)
def test_which_are_seen(
    service: Service, people: dict[str, Principal], who: str, asked: dict[str, str], seen: Any
) -> None:
    with reading(service.engine) as connection:
        if isinstance(seen, list):
            assert [each.id for each in visible_invitations(connection, people[who], **asked)] == seen
        else:
            with pytest.raises(seen):
                visible_invitations(connection, people[who], **asked)


def test_who_takes_which_back(service: Service, people: dict[str, Principal]) -> None:
    """Who made it, who leads its team or organises its campaign, and administrators; for others it does not exist."""
    may = {
        OF_TEAM: {"mary", "anna"},
        OF_CAMPAIGN: {"olga", "anna"},
        OF_OTHER_CAMPAIGN: {"otto", "anna"},
        OF_SITE: {"oscar", "anna"},
    }
    for number, those in may.items():
        for name, actor in people.items():
            with writing(service.engine) as connection:
                if name in those:
                    assert withdraw_visible_invitation(connection, actor, number).id == number
                    # So that the next one has something to take back.
                    connection.execute(Invitation.__table__.update().values(expires_at=now() + HOUR))
                else:
                    with pytest.raises(NotFound):
                        withdraw_visible_invitation(connection, actor, number)


def test_only_organisers_invite_to_a_campaign(service: Service, people: dict[str, Principal]) -> None:
    for name, error in (("vera", Forbidden), ("eve", NotFound), ("otto", NotFound)):
        with writing(service.engine) as connection, pytest.raises(error):
            invite(connection, service.settings, people[name], campaign="wmt", campaign_role=CampaignRole.ORGANISER)
    with writing(service.engine) as connection:
        made = invite(
            connection, service.settings, people["olga"], campaign="wmt", campaign_role=CampaignRole.ORGANISER
        )
        assert made.known.campaign == "wmt"
        assert len(connection.scalars(select(Invitation.id)).all()) == 5
