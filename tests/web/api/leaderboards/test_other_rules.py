"""Leaderboards and comparisons by other rules than the usual one: what they are refused for, and what takes long."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

import campaigns.leaderboards.comparison
from campaigns.background import BackgroundCache
from campaigns.leaderboards import breakdown, options
from models.database.session import reading
from models.results.boards import list_boards
from models.schema.roles import SiteRole
from tests.scheduler.jobs import queue_job, work_off
from tests.service.inspected_campaign import look_at
from tests.service.scored_campaigns import Scored
from tests.service.service import Service

BOARD = "/api/v1/campaigns/port/leaderboard"


@pytest.fixture
def mary(service: Service) -> Any:
    """The program of the organiser of a campaign of four systems, whose scores were put in by hand."""
    found = Scored(service)
    for number in range(4):
        found.add("", f"s{number}", 30.0 + number, constrained=True)
    account = service.account("mary")
    service.campaign("port", organisers=(account,))
    return service.program(account)


def told(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["message"]


def test_other_rules_are_for_all_systems_together(mary: Any) -> None:
    assert told(mary.get(BOARD, params={"level": 0.9, "constrained": "yes"})) == (
        422,
        "Leave out `constrained`: other rules are for all systems together.",
    )
    assert mary.get(BOARD, params={"constrained": "yes"}).status_code == 200
    assert mary.get(BOARD, params={"level": 0.9}).status_code == 200


def test_other_rules_are_for_so_many_systems(mary: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "MAX_SYSTEMS", 4)
    assert mary.get(BOARD, params={"level": 0.9}).status_code == 200
    monkeypatch.setattr(options, "MAX_SYSTEMS", 3)
    assert told(mary.get(BOARD, params={"level": 0.8})) == (
        422,
        "This leaderboard has 4 systems. Other rules than the usual one are for at most 3.",
    )
    assert mary.get(BOARD).status_code == 200


def test_what_takes_long_is_computed_meanwhile(mary: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    begin, computed, done = threading.Event(), options._computed, []

    def waiting(*given: Any) -> options.OptionalBoard:
        assert begin.wait(60)
        done.append(given[3])
        return computed(*given)

    monkeypatch.setattr(options, "_computed", waiting)
    monkeypatch.setattr(options, "WAIT_SECONDS", 0.0)
    answer = mary.get(BOARD, params={"level": 0.9})
    assert told(answer) == (503, "This leaderboard is being computed. Ask again.")
    assert answer.headers["Retry-After"] == "2"
    begin.set()
    monkeypatch.setattr(options, "WAIT_SECONDS", 60.0)
    found = mary.get(BOARD, params={"level": 0.9}).json()
    assert [each["scores"][0]["score"] for each in found["items"]] == [33.0, 32.0, 31.0, 30.0]
    assert [each.level for each in done] == [0.9], "once"


def test_what_is_kept_is_of_the_question_that_was_asked_and_of_the_systems_that_are_there(service: Service) -> None:
    scored = Scored(service)
    for number in range(3):
        scored.add("", f"s{number}", 30.0 + number, ter=50.0 + number)
    account = service.account("mary")
    service.campaign("port", organisers=(account,))
    mary = service.program(account)

    def items(**asked: Any) -> list[str]:
        answer = mary.get(BOARD, params={"level": 0.9, **asked})
        assert answer.status_code == 200, answer.text
        return [each["name"] for each in answer.json()["items"]]

    assert items() == ["s2", "s1", "s0"]
    assert items(metric="ter") == ["s0", "s1", "s2"]
    assert items() == ["s2", "s1", "s0"]
    scored.add("", "s3", 40.0)
    assert items() == ["s3", "s2", "s1", "s0"]
    found = mary.get(BOARD, params={"level": 0.8}).json()
    assert {score["interval"]["level"] for each in found["items"] for score in each["scores"]} == {0.8}


def test_who_may_ask_for_other_rules(service: Service) -> None:
    scored = Scored(service)
    for number in range(2):
        scored.add("", f"s{number}", 30.0 + number)
    olga, mary = service.account("olga"), service.account("mary")
    service.campaign("port", organisers=(olga,))
    for asked, statuses in (
        ({}, (200, 200, 200)),
        ({"level": 0.9}, (200, 200, 401)),
        ({"all_submissions": True}, (200, 403, 401)),
    ):
        for client, status in zip(
            (service.program(olga), service.program(mary), service.client()), statuses, strict=True
        ):
            assert client.get(BOARD, params=asked).status_code == status, (asked, status)


def test_the_power_is_of_tests_at_the_level_that_was_asked_for(mary: Any) -> None:
    for alpha in (0.05, 0.2):
        found = mary.get(BOARD, params={"power": True, "alpha": alpha}).json()
        assert (found["power"]["alpha"], found["ranking"]["alpha"]) == (alpha, alpha)


def test_scores_of_parts_that_nobody_stored_are_said_to_be_missing(mary: Any) -> None:
    assert told(mary.get("/api/v1/campaigns/port/breakdown", params={"by": "length"})) == (
        404,
        "There are no scores by words in the reference of this metric: Evaluation 4 has no statistics of its metric "
        "number 1.",
    )


def test_a_breakdown_has_so_many_scores(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    bay = look_at(service)
    olga, address = service.browser(bay.organiser), "/api/v1/campaigns/bay/breakdown"
    monkeypatch.setattr(breakdown, "MOST_SCORES", 4)
    assert olga.get(address, params={"by": "document"}).status_code == 200
    monkeypatch.setattr(breakdown, "MOST_SCORES", 3)
    assert told(olga.get(address, params={"by": "document"})) == (
        422,
        "2 systems on 2 documents are too many at once. Choose some with `system`.",
    )
    one = olga.get(address, params={"by": "document", "system": bay.submissions["dive"]}).json()
    assert [each["name"] for each in one["systems"]] == ["gulls/dive"]


@pytest.fixture
def olga(service: Service) -> Any:
    """The browser of an organiser whose campaign "fleet" has imported scores of systems alone, ranked by AutoRank."""
    browser = service.browser(service.account("olga", role=SiteRole.ORGANISER))
    assert browser.post("/api/v1/campaigns", json={"name": "fleet"}).status_code == 201
    files = []
    for shift in (0.0, 1.0, 2.0):
        lines = [
            {
                "language_pair": "en-is_IS",
                "domain": domain,
                "document_id": domain,
                "metric_scores": {"X": [shift, shift + 0.5]},
            }
            for domain in ("news", "speech")
        ]
        content = "".join(json.dumps(each) + "\n" for each in lines).encode()
        files.append(("files", (f"ship{shift:g}.jsonl", content, "application/json")))
    assert browser.post("/campaigns/fleet/scores", data={"create": "yes"}, files=files).status_code == 200
    assert browser.post("/campaigns/fleet/autorank", data={"rule": "wmt24", "metrics": "X\n"}).status_code == 200
    work_off(service.settings)
    return browser


def test_autorank_has_no_parts_and_what_has_no_references_no_lengths(olga: Any) -> None:
    address = "/api/v1/campaigns/fleet/breakdown"
    assert told(olga.get(address, params={"by": "domain", "metric": "autorank:rule=wmt24:of=1"})) == (
        404,
        "AutoRank is of whole test sets. Choose another metric.",
    )
    for metric in ({}, {"metric": "autorank:rule=wmt24:of=1"}):
        assert told(olga.get(address, params={"by": "length", **metric})) == (
            404,
            "This leaderboard has no references, so there are no scores by length.",
        )


def test_systems_are_compared_by_the_autoranks_of_the_whole_leaderboard(olga: Any) -> None:
    """Those of two of three systems alone would be 1 and 3."""
    board = olga.get("/api/v1/campaigns/fleet/leaderboard").json()
    shown = {each["submission"]: each["scores"][-1]["score"] for each in board["items"]}
    assert sorted(shown.values()) == [1.0, 2.5, 4.0]
    chosen = [number for number, score in shown.items() if score != 2.5]
    found = olga.get(
        "/api/v1/campaigns/fleet/comparisons", params={"system": chosen, "metric": "autorank:rule=wmt24:of=1"}
    ).json()
    (pair,) = found["pairs"]
    assert {abs(pair["difference"])} == {3.0}
    assert pair["p"] < 0.05
    scores = {each["submission"]: each["scores"][-1]["score"] for each in found["systems"]}
    assert scores == {number: shown[number] for number in chosen}


def test_intervals_that_take_long_are_computed_meanwhile(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    queue_job(service.engine, service.settings, segments=30, systems=3, replicates=20)
    work_off(service.settings)
    with reading(service.engine) as connection:
        (listed,) = list_boards(connection)
    service.campaign(listed.campaign)
    client, url = service.program(service.account("ann")), f"/api/v1/campaigns/{listed.campaign}/comparisons"
    expected = client.get(url, params={"interval": "bca"}).json()
    assert (expected["drawing"], len(expected["pairs"])) == (0, 3)
    service.app.state.steelyard.boards.slow = BackgroundCache("anew")
    monkeypatch.setattr(campaigns.leaderboards.comparison, "WAIT_SECONDS", 0.0)
    begin, plain = threading.Event(), campaigns.leaderboards.comparison.left_out_of

    def waiting(*given: Any) -> Any:
        assert begin.wait(60)
        return plain(*given)

    monkeypatch.setattr(campaigns.leaderboards.comparison, "left_out_of", waiting)
    before = client.get(url, params={"interval": "bca"}).json()
    assert (before["pairs"], before["drawing"]) == ([], 20)
    begin.set()
    monkeypatch.setattr(campaigns.leaderboards.comparison, "WAIT_SECONDS", 60.0)
    assert client.get(url, params={"interval": "bca"}).json() == expected
