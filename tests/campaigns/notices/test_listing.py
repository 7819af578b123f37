"""A small world of notices, gone through whole: who reads which of them, in lists, campaigns and feeds."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update

from campaigns.accounts.principal import COMMAND_LINE, EVERY_SCOPE, Principal
from campaigns.notices.listing import list_announcements, list_notices, read_feed
from campaigns.permissions import read_access
from models.database.session import reading, writing
from models.notices.notify import NewNotice, notify
from models.schema.accounts import Account, Membership
from models.schema.campaigns import CampaignMember
from models.schema.notices import NoticeAddress, NoticeChoice, NoticeDelivery
from models.schema.roles import CampaignRole, SiteRole, TeamRole
from steelyard_client.vocabulary import NoticeChannel, NoticeKind

if TYPE_CHECKING:
    from tests.service.service import Service

CAMPAIGNS = {"bay": ("gulls", "terns"), "port": ("terns",), "pier": ()}
"""Which teams take part."""
TEAMS = {"gulls": ("mary", "both"), "terns": ("zoe", "both"), "crabs": ("eve",)}
ORGANISERS, VIEWERS = {"bay": "ann", "port": "mary", "pier": "olga"}, {"bay": "vera", "port": "olga"}
PEOPLE = ("ann", "mary", "zoe", "eve", "both", "olga", "vera", "nobody")


def inside(person: str, campaign: str) -> bool:
    teams = any(person in TEAMS[team] for team in CAMPAIGNS[campaign])
    return teams or person in (ORGANISERS[campaign], VIEWERS.get(campaign))


def test_who_reads_which_notices(service: Service) -> None:
    accounts = {name: service.account(name) for name in PEOPLE}
    teams = {name: service.team(name, *(accounts[each] for each in members)) for name, members in TEAMS.items()}
    numbers = {
        name: service.campaign(
            name, organisers=(accounts[ORGANISERS[name]],), teams=tuple(teams[each] for each in there)
        )
        for name, there in CAMPAIGNS.items()
    }
    with writing(service.engine) as connection:
        for campaign, who in VIEWERS.items():
            row = {"campaign_id": numbers[campaign], "account_id": accounts[who], "role": CampaignRole.VIEWER}
            connection.execute(insert(CampaignMember).values(**row))
        for name, account in accounts.items():
            secrets = {"feed_secret": f"feed {name}", "unsubscribe_secret": name}
            connection.execute(insert(NoticeAddress).values(account_id=account, webhook="https://x", **secrets))
            choice = {"account_id": account, "kind": NoticeKind.PHASE, "channel": NoticeChannel.FEED}
            connection.execute(insert(NoticeChoice).values(**choice, wanted=name == "both"))
        told: list[tuple[int, str, str, NoticeKind]] = []
        for round_number, kind, campaign in product(range(2), NoticeKind, CAMPAIGNS):
            for team in ("", *TEAMS) if kind in (NoticeKind.SCORED, NoticeKind.FAILED) else ("",):
                key, of_team = f"{kind} {round_number} {team}", teams.get(team)
                new = NewNotice(numbers[campaign], key, kind, f"{campaign} {key}", "text", "/x", team_id=of_team)
                number = notify(connection, new, mails=True)
                assert number is not None
                assert notify(connection, new, mails=True) is None, "once"
                told.append((number, campaign, team, kind))
    with reading(service.engine) as connection:
        sent = {tuple(row) for row in connection.execute(select(NoticeDelivery.notice_id, NoticeDelivery.account_id))}
        for person, account in accounts.items():
            mine = [
                (number, campaign, team, kind)
                for number, campaign, team, kind in reversed(told)
                if (person in TEAMS[team] if team else inside(person, campaign))
            ]
            seen = list_notices(connection, account, limit=1000)
            assert [(each.id, each.campaign, each.team, each.kind) for each in seen] == mine
            assert {notice for notice, whom in sent if whom == account} <= {number for number, *_ in mine}
            assert list_notices(connection, account, limit=2) == seen[:3]
            if len(seen) > 2:
                assert list_notices(connection, account, limit=1, after=seen[1].id) == seen[2:4]
            feed = read_feed(connection, f"feed {person}")
            wanted = [each for each in seen if each.kind is not NoticeKind.PHASE or person == "both"]
            assert feed == wanted[:50]
            teams_of = {team: TeamRole.MEMBER for team, members in TEAMS.items() if person in members}
            principal = Principal(account, role=SiteRole.PARTICIPANT, scopes=EVERY_SCOPE, teams=teams_of)
            for campaign in CAMPAIGNS:
                of_it = list_announcements(connection, read_access(connection, principal, campaign), limit=9)
                announced = [
                    number
                    for number, there, _, kind in reversed(told)
                    if there == campaign and kind is NoticeKind.ANNOUNCEMENT and inside(person, campaign)
                ]
                assert [each.id for each in of_it] == announced
        everything = read_access(connection, COMMAND_LINE, "pier")
        assert len(list_announcements(connection, everything, limit=1)) == 1
        assert read_feed(connection, "feed") is None
    with writing(service.engine) as connection:
        connection.execute(update(Account).where(Account.id == accounts["zoe"]).values(disabled_at=1.0))
        connection.execute(Membership.__table__.delete().where(Membership.account_id == accounts["both"]))
        assert read_feed(connection, "feed zoe") is None
        assert read_feed(connection, "feed both") == [], "who has left reads no more"
