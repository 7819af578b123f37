"""Clones of campaigns: what comes along, when their phases lie, and what stays behind. And the archive."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import func, select, update

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.changes import lock_for_change
from campaigns.cloning import CloneRequest, clone_campaign
from campaigns.errors import BadRequest, Conflict
from campaigns.measures import protocols_on
from campaigns.permissions import read_access
from campaigns.phases import PhaseRules, add_phase
from campaigns.quotas.organisers import set_quota
from campaigns.rules import Rules, set_rules
from campaigns.terms import read_terms, set_terms
from models.database.session import reading, writing
from models.schema.accounts import Invitation
from models.schema.campaigns import Campaign, CampaignProtocol, Participation, Quota
from models.schema.corpus import Protocol, Submission
from models.schema.roles import Joining, PhaseKind, SiteRole, Visibility
from models.schema.states import QuotaKind
from tests.service.campaigns import found, submit_output, with_test_set
from tests.service.people import submit
from tests.service.port import ADDRESS, Port

if TYPE_CHECKING:
    from campaigns.permissions import CampaignAccess
    from tests.service.service import Service

PRAGUE = ZoneInfo("Europe/Prague")
CLONE = "/campaigns/port%201/manage/clone"


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=PRAGUE).timestamp()


def old_campaign(service: Service) -> None:
    """With phases on both sides of the end of summer time, which is on other days in other years."""
    rules = {"time_zone": "Europe/Prague", "anonymous": True, "visibility": Visibility.PUBLIC, "description": "News."}
    rules |= {"joining": Joining.OPEN, "verified_only": True, "embeddable": True}
    found(service.engine, "wmt24", title="WMT 2024", **rules)
    with writing(service.engine) as connection:
        for name, kind, begins, ends in (
            ("dev", PhaseKind.OPEN, "2024-10-01T00:00", "2024-10-28T18:00"),
            ("test", PhaseKind.BLIND, "2024-10-29T00:00", "2024-11-05T23:59"),
            ("over", PhaseKind.PUBLISHED, "2024-12-01T12:00", None),
        ):
            access = lock_for_change(connection, COMMAND_LINE, "wmt24")
            add_phase(connection, access, PhaseRules(name, kind, at(begins), at(ends) if ends else None))
        access = lock_for_change(connection, COMMAND_LINE, "wmt24")
        set_quota(connection, access, QuotaKind.PER_PHASE, 7, phase="test")
        set_quota(connection, access, QuotaKind.PER_DAY, 1, team="harbour")
        set_terms(connection, access, "Be *kind*.")
    with_test_set(service.engine, "wmt24", metrics=("bleu", "chrf"), phase="test")
    with writing(service.engine) as connection:
        set_rules(connection, lock_for_change(connection, COMMAND_LINE, "wmt24"), Rules(ranked_by="chrf"))
    submit_output(service.engine, "wmt24", "harbour", "mast", b"kocka\npes\ndum\n")


def cloned(service: Service, request: CloneRequest) -> CampaignAccess:
    with writing(service.engine) as connection:
        clone_campaign(connection, service.settings, COMMAND_LINE, "wmt24", request)
        return read_access(connection, COMMAND_LINE, request.name)


def test_everything_but_submissions_comes_along(service: Service) -> None:
    old_campaign(service)
    new = cloned(service, CloneRequest("wmt27", "WMT 2027", at("2027-10-01T00:00")))
    assert (new.title, new.visibility, new.anonymous) == ("WMT 2027", Visibility.PRIVATE, True)
    assert (new.description, new.joining, new.verified_only, new.embeddable) == ("News.", Joining.OPEN, True, True)
    assert new.ranked_by == "chrf"
    local = [
        tuple(None if each is None else datetime.fromtimestamp(each, PRAGUE).strftime("%F %R") for each in times)
        for times in ((phase.starts_at, phase.ends_at) for phase in new.phases)
    ]
    # Summer time ends on 31 October in 2027, and ended on 27 October in 2024: times of the day stay.
    assert local == [
        ("2027-10-01 00:00", "2027-10-28 18:00"),
        ("2027-10-29 00:00", "2027-11-05 23:59"),
        ("2027-12-01 12:00", None),
    ]
    (test_set,) = new.test_sets.values()
    assert (test_set.name, test_set.phase_id, test_set.released_at) == ("news", new.phases[1].id, None)
    with reading(service.engine) as connection:
        terms = read_terms(connection, new.campaign_id)
        assert terms is not None
        assert terms.text == "Be *kind*."
        quotas = connection.execute(select(Quota).where(Quota.campaign_id == new.campaign_id)).all()
        assert [(each.kind, each.phase, each.amount, each.team) for each in quotas] == [("per_phase", "test", 7, "")]
        own = select(CampaignProtocol.protocol_id).where(CampaignProtocol.campaign_id == new.campaign_id)
        old = select(CampaignProtocol.protocol_id).where(CampaignProtocol.campaign_id != new.campaign_id)
        assert set(connection.scalars(own)) == set(connection.scalars(old)), "measured alike"
        there = select(func.count()).select_from(Submission).where(Submission.campaign_id == new.campaign_id)
        assert connection.scalar(there) == 0


def test_by_default_it_begins_on_the_same_day_of_the_week_ahead(service: Service) -> None:
    old_campaign(service)
    new = cloned(service, CloneRequest("next", test_sets=False))
    begins = datetime.fromtimestamp(new.phases[0].starts_at, PRAGUE)
    assert begins.strftime("%a %R") == "Tue 00:00"
    assert 0 < new.phases[0].starts_at - new.at <= 366 * 86400
    assert not new.test_sets
    assert new.title == "WMT 2024"


@pytest.mark.parametrize("start", ["2199-12-01T00:00", "9999-12-01T00:00"])
def test_phases_beyond_the_calendar_are_refused_and_nothing_is_stored(service: Service, start: str) -> None:
    old_campaign(service)
    with pytest.raises(BadRequest) as refused:
        cloned(service, CloneRequest("next", starts_at=datetime.fromisoformat(start).timestamp()))
    assert str(refused.value) == "The phases would lie beyond the calendar. Choose another start."
    with reading(service.engine) as connection:
        assert list(connection.scalars(select(Campaign.name))) == ["wmt24"]


def test_of_a_campaign_without_phases_whose_scores_were_imported_the_test_sets_come_along(service: Service) -> None:
    found(service.engine, "wmt24")
    with_test_set(service.engine, "wmt24")
    with writing(service.engine) as connection:
        connection.execute(update(Protocol).values(metrics=["imported:metric=x"]))
    new = cloned(service, CloneRequest("next"))
    assert (len(new.test_sets), len(new.phases)) == (1, 0)
    assert new.title == "next"
    with reading(service.engine) as connection:
        assert protocols_on(connection, new.campaign_id) == []


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (CloneRequest("WMT24"), Conflict),
        (CloneRequest("a/b", starts_at=at("2027-10-01T00:00")), BadRequest),
        (CloneRequest("late", starts_at=at("2199-12-30T00:00")), BadRequest),
    ],
)
def test_nothing_is_left_of_a_clone_that_fails(service: Service, request_: CloneRequest, error: type) -> None:
    old_campaign(service)
    with pytest.raises(error):
        cloned(service, request_)
    with reading(service.engine) as connection:
        assert list(connection.scalars(select(Campaign.name))) == ["wmt24"]


def test_on_the_page_and_with_teams_that_are_invited(port: Port) -> None:
    ann = port.browser("ann")
    page = "/campaigns/port%201/manage/results"
    wrong = submit(ann, page, CLONE, clone_name="port 1")
    assert wrong.status_code == 409
    assert "similar one" in wrong.text
    fields = {"clone_name": "port 2", "clone_teams": "yes", "clone_test_sets": "yes"}
    done = submit(ann, page, CLONE, **fields, clone_starts="2030-01-01T00:00")
    assert done.headers["Location"] == "/campaigns/port%202/manage?done=cloned"
    assert "Campaign cloned." in ann.get(done.headers["Location"]).text
    assert port.service.client().get("/campaigns/port%202").status_code in (401, 404), "private"
    assert port.count(Invitation) == 2
    assert port.count(Participation) == 2, "nobody takes part unasked"
    assert port.program("mary").post(f"{ADDRESS}/clone", json={"name": "mine"}).status_code == 403


def test_a_clone_begins_in_the_time_zone_of_its_campaign(service: Service) -> None:
    old_campaign(service)
    root = service.account("root", SiteRole.ADMINISTRATOR)
    fields = {"clone_name": "by page", "clone_starts": "2027-07-01T00:00"}
    submit(service.browser(root), "/campaigns/wmt24/manage/results", "/campaigns/wmt24/manage/clone", **fields)
    asked = {"name": "by program", "starts": "2027-07-01T00:00"}
    assert service.program(root).post("/api/v1/campaigns/wmt24/clone", json=asked).status_code == 201
    for name in ("by page", "by program"):
        with reading(service.engine) as connection:
            assert read_access(connection, COMMAND_LINE, name).phases[0].starts_at == at("2027-07-01T00:00")


def test_the_archive_has_published_campaigns_with_winners(port_anywhere: Port) -> None:
    port = port_anywhere
    port.submit(port.program("mary"))
    port.work_off()
    visitor = port.service.client()
    assert visitor.get("/api/v1/archive").json()["items"] == []
    assert "once their results are published" in visitor.get("/archive").text
    assert port.program("ann").post(f"{ADDRESS}/publish").status_code == 200
    (item,) = visitor.get("/api/v1/archive").json()["items"]
    assert (item["name"], item["teams"], item["segments"]) == ("port 1", 2, 300)
    assert item["year"] == datetime.now().astimezone().year
    (winners,) = item["winners"]
    first = visitor.get(f"{ADDRESS}/leaderboard").json()["items"][0]["name"]
    assert (winners["test_set"], winners["ranked_by"]) == ("quay", "BLEU")
    assert first in winners["systems"]
    assert f"<bdi>{first}</bdi>" in visitor.get("/archive").text
    port.service.campaign("port 1", visibility=Visibility.PRIVATE)
    assert visitor.get("/api/v1/archive").json()["items"] == []
