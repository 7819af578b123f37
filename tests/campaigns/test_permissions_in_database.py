"""Who knows of which campaign, by what the database says."""

from __future__ import annotations

import pytest
from sqlalchemy import insert, update

from campaigns.accounts.principal import COMMAND_LINE, EVERY_SCOPE, NOBODY, Principal
from campaigns.errors import NotFound
from campaigns.permissions import (
    CampaignTestSetView,
    TeamView,
    UnreadableCampaign,
    read_access,
    read_access_by_id,
    visible_campaigns,
)
from models.database.session import reading, writing
from models.schema.accounts import Team
from models.schema.campaigns import Campaign, CampaignMember, CampaignTestSet
from models.schema.corpus import TestSet
from models.schema.roles import (
    CampaignRole,
    Joining,
    PhaseKind,
    SiteRole,
    TeamRole,
    Visibility,
)
from tests.service.service import DAY, Service

OURS = "harbour"


class Site:
    """A public and a private campaign with the same people in them."""

    def __init__(self, service: Service) -> None:
        self.service = service
        accounts = {name: service.account(name) for name in ("olga", "mary", "vera", "eve", "other")}
        root = service.account("root", SiteRole.ADMINISTRATOR)
        team = service.team(OURS, accounts["mary"])
        self.ids = {}
        for name, visibility in (("open", Visibility.PUBLIC), ("secret", Visibility.PRIVATE)):
            self.ids[name] = service.campaign(
                name, organisers=(accounts["olga"],), teams=(team,), visibility=visibility
            )
            row = {"campaign_id": self.ids[name], "account_id": accounts["vera"], "role": CampaignRole.VIEWER}
            with writing(service.engine) as connection:
                connection.execute(insert(CampaignMember).values(**row))
        service.campaign("elsewhere", organisers=(accounts["other"],), visibility=Visibility.PRIVATE)
        self.principals = {
            name: Principal(account_id=key, role=SiteRole.PARTICIPANT, scopes=EVERY_SCOPE)
            for name, key in accounts.items()
        }
        self.principals["mary"] = Principal(
            accounts["mary"], role=SiteRole.PARTICIPANT, scopes=EVERY_SCOPE, teams={OURS: TeamRole.LEAD}
        )
        self.principals |= {"nobody": NOBODY, "root": Principal(root, role=SiteRole.ADMINISTRATOR)}
        self.principals["command line"] = COMMAND_LINE


def test_who_knows_of_a_private_campaign(service: Service) -> None:
    site = Site(service)
    knowing = {"olga", "mary", "vera", "root", "command line"}
    messages = set()
    for name, principal in site.principals.items():
        with reading(service.engine) as connection:
            assert read_access(connection, principal, "open").name == "open"
            listed = [each.name for each in visible_campaigns(connection, principal)]
            assert ("secret" in listed) == (name in knowing), name
            assert ("elsewhere" in listed) == (name in ("other", "root", "command line")), name
            if name in knowing:
                seen = read_access_by_id(connection, principal, site.ids["secret"])
                assert seen.organises == (name in ("olga", "root", "command line"))
                assert seen.views == (name == "vera")
                assert seen.own_teams == ((OURS,) if name == "mary" else ())
                continue
            for wanted in ("secret", "missing"):
                with pytest.raises(NotFound) as error:
                    read_access(connection, principal, wanted)
                messages.add(str(error.value).replace(wanted, "X"))
            with pytest.raises(NotFound) as error:
                read_access_by_id(connection, principal, site.ids["secret"])
    assert len(messages) == 1, "a private campaign is missing in the very words of one that is not there"


def test_campaigns_come_page_by_page_whatever_cannot_be_read(service: Service) -> None:
    olga = service.account("olga")
    ids = {number: service.campaign(f"c{number}", organisers=(olga,) if number == 4 else ()) for number in range(1, 8)}
    with writing(service.engine) as connection:
        connection.execute(update(Campaign).where(Campaign.id.in_([ids[3], ids[4]])).values(time_zone="Nowhere"))
    principal = Principal(olga, role=SiteRole.PARTICIPANT, scopes=EVERY_SCOPE)
    with reading(service.engine) as connection:
        for before, limit, names, odd in (
            (None, None, [7, 6, 5, 2, 1], [4, 3]),
            (ids[6], None, [5, 2, 1], [4, 3]),
            (None, 2, [7, 6], []),
            (None, 4, [7, 6, 5, 2], [4, 3]),
            (ids[6], 2, [5, 2], [4, 3]),
            (ids[5], 3, [2, 1], [4, 3]),
            (ids[2], 2, [1], []),
            (ids[1], 2, [], []),
        ):
            unreadable: list[UnreadableCampaign] = []
            found = visible_campaigns(connection, principal, before=before, limit=limit, unreadable=unreadable)
            assert [each.name for each in found] == [f"c{number}" for number in names]
            assert [each.name for each in unreadable] == [f"c{number}" for number in odd]
            assert {each.name: "Nowhere" in each.reason for each in unreadable} == (
                {"c4": True, "c3": False} if odd else {}
            ), "why is for those who organise it"
            assert all(each.reason == "" for each in unreadable if each.name == "c3")


def test_times_are_those_of_the_database(service: Service) -> None:
    campaign = service.campaign("wmt")
    service.phase(campaign, "dev", PhaseKind.OPEN, begins=-DAY, ends=DAY)
    service.phase(campaign, "test", PhaseKind.BLIND, begins=DAY)
    with reading(service.engine) as connection:
        seen = read_access(connection, NOBODY, "wmt")
    assert seen.phase is not None
    assert (seen.phase.name, [each.name for each in seen.phases]) == ("dev", ["dev", "test"])
    assert seen.phase.takes(seen.at)


def test_what_the_database_says_of_a_campaign_is_what_is_seen(service: Service) -> None:
    """Every field from its own column, and nothing of another campaign."""
    owner = service.account("olga")
    teams = [service.team(name, service.account(f"of {name}")) for name in ("zebra", "ants", "bees")]
    other = service.campaign("other", teams=(teams[0], teams[2]))
    campaign = service.campaign(
        "wmt",
        organisers=(owner,),
        teams=(teams[2], teams[1]),
        title="The title",
        description="It describes.",
        time_zone="Europe/Prague",
        joining=Joining.INVITED,
        anonymous=True,
        verified_only=True,
        ranked_by="bleu",
        frozen_at=123.0,
    )
    elsewhere, phase_id = (
        service.phase(each, name, PhaseKind.OPEN) for each, name in ((other, "theirs"), (campaign, "ours"))
    )
    with writing(service.engine) as connection:
        connection.execute(update(Team).where(Team.name == "ants").values(publication_name="The Ants"))
        row = {"segments": 1, "source_language": "en", "target_language": "cs", "variable_references": False}
        sets = [
            connection.execute(
                insert(TestSet).values(content_hash=f"{number}", **row).returning(TestSet.id)
            ).scalar_one()
            for number in range(4)
        ]
        for values in (
            {"campaign_id": campaign, "test_set_id": sets[0], "position": 2, "phase_id": phase_id},
            {"campaign_id": campaign, "test_set_id": sets[1], "position": 1, "references_released_at": 77.0},
            {"campaign_id": campaign, "test_set_id": sets[2], "position": 2, "replaced_by": sets[1]},
            {"campaign_id": other, "test_set_id": sets[3], "position": 0, "phase_id": elsewhere},
        ):
            connection.execute(insert(CampaignTestSet).values(name="t", version=f"{values['test_set_id']}", **values))
    for find in (read_access, read_access_by_id):
        with reading(service.engine) as connection:
            seen = find(connection, COMMAND_LINE, "wmt" if find is read_access else campaign)
        assert (seen.campaign_id, seen.name, seen.title, seen.description) == (
            campaign,
            "wmt",
            "The title",
            "It describes.",
        )
        assert (seen.time_zone, seen.joining, seen.visibility) == ("Europe/Prague", Joining.INVITED, Visibility.PUBLIC)
        assert (seen.anonymous, seen.verified_only, seen.ranked_by, seen.frozen_at) == (True, True, "bleu", 123.0)
        assert [each.name for each in seen.phases] == ["ours"]
        assert dict(seen.teams) == {"ants": TeamView("ants", "The Ants", 2), "bees": TeamView("bees", "", 1)}
        assert list(seen.teams) == ["ants", "bees"]
        assert list(seen.test_sets.values()) == [
            CampaignTestSetView(sets[1], None, 77.0, None, "t", f"{sets[1]}"),
            CampaignTestSetView(sets[0], phase_id, None, None, "t", f"{sets[0]}"),
            CampaignTestSetView(sets[2], None, None, sets[1], "t", f"{sets[2]}"),
        ]
    with reading(service.engine) as connection:
        assert [each.name for each in visible_campaigns(connection, COMMAND_LINE)] == ["wmt", "other"]
        assert read_access(connection, NOBODY, "other").title == "other", (
            "a campaign without a title is called by its name"
        )
        for missing in (0, campaign + 1, -1):
            with pytest.raises(NotFound):
                read_access_by_id(connection, COMMAND_LINE, missing)
