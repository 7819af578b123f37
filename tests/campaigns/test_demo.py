"""The demo campaign in the database: complete at once, one for each organiser, and nothing of anybody else's."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import func, select

from campaigns.accounts.principal import Principal, principal_of_session
from campaigns.demo import TEST_SET, demo_folder, open_demo
from campaigns.errors import Conflict, Forbidden, NotFound
from campaigns.permissions import read_access
from models.database.session import reading
from models.schema.corpus import Submission
from models.schema.roles import SiteRole
from tests.scheduler.jobs import work_off
from tests.service.service import Service


def somebody(service: Service, name: str, role: SiteRole) -> Principal:
    secret = service.session(service.account(name, role))
    with reading(service.engine) as connection:
        return principal_of_session(connection, secret)


def test_it_is_published_with_all_systems_scored(service: Service) -> None:
    mary = somebody(service, "mary", SiteRole.ORGANISER)
    assert open_demo(service.engine, service.settings, mary) == "demo"
    work_off(service.settings)
    with reading(service.engine) as connection:
        access = read_access(connection, mary, "demo")
        stored = connection.scalar(select(func.count()).select_from(Submission))
    assert access.published
    assert [each.name for each in access.test_sets.values()] == [TEST_SET]
    assert all(access.sees_references(each) for each in access.test_sets)
    assert stored == 5
    board = service.program(mary.account_id or 0).get("/api/v1/campaigns/demo/leaderboard").json()["items"]
    assert [each["system"] for each in board] == ["anchor", "cable", "dinghy", "buoy", "ebb"]
    assert all(each["scores"] for each in board)


def test_a_second_click_leads_to_the_same_one(service: Service) -> None:
    mary = somebody(service, "mary", SiteRole.ORGANISER)
    for _ in range(2):
        assert open_demo(service.engine, service.settings, mary) == "demo"
    # Somebody else's is not theirs to see, and gets another name.
    olga = somebody(service, "olga", SiteRole.ORGANISER)
    assert open_demo(service.engine, service.settings, olga) == "demo-2"
    assert open_demo(service.engine, service.settings, olga) == "demo-2"


def test_a_campaign_of_that_name_stays_as_it_is(service: Service) -> None:
    mary = somebody(service, "mary", SiteRole.ORGANISER)
    mine = service.campaign("demo", organisers=(mary.account_id or 0,))
    assert open_demo(service.engine, service.settings, mary) == "demo-2"
    with reading(service.engine) as connection:
        assert read_access(connection, mary, "demo").campaign_id == mine
        assert not read_access(connection, mary, "demo").test_sets


def test_there_are_so_many_on_one_server(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("campaigns.demo.MOST", 2)
    people = [somebody(service, name, SiteRole.ORGANISER) for name in ("mary", "olga", "ann")]
    assert [open_demo(service.engine, service.settings, each) for each in people[:2]] == ["demo", "demo-2"]
    with pytest.raises(Conflict) as refused:
        open_demo(service.engine, service.settings, people[2])
    assert str(refused.value) == "There are 2 demo campaigns already."
    assert open_demo(service.engine, service.settings, people[1]) == "demo-2"


def test_where_there_is_none_it_says_so(service: Service, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("campaigns.demo.__file__", str(tmp_path / "campaigns" / "demo.py"))
    with pytest.raises(NotFound, match=r"^The demo campaign is missing from this installation\.$"):
        open_demo(service.engine, service.settings, somebody(service, "mary", SiteRole.ORGANISER))
    (tmp_path / "demo" / "b" / "refs").mkdir(parents=True)
    (tmp_path / "demo" / "a").mkdir()
    assert demo_folder() == tmp_path / "demo" / "b"


def test_it_goes_on_where_a_server_stopped(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    mary = somebody(service, "mary", SiteRole.ORGANISER)

    def stop(*_: object) -> None:
        raise RuntimeError("switched off")

    monkeypatch.setattr("campaigns.demo.publish_now", stop)
    with pytest.raises(RuntimeError, match="switched off"):
        open_demo(service.engine, service.settings, mary)
    monkeypatch.undo()
    assert open_demo(service.engine, service.settings, mary) == "demo"
    with reading(service.engine) as connection:
        assert read_access(connection, mary, "demo").published
        assert connection.scalar(select(func.count()).select_from(Submission)) == 5


def test_participants_have_none(service: Service) -> None:
    with pytest.raises(Forbidden):
        open_demo(service.engine, service.settings, somebody(service, "eve", SiteRole.PARTICIPANT))
