"""Answers about one of several: the own team, this test set, that page of a list, these judgments."""

from __future__ import annotations

from typing import Any

import pytest

from models.schema.roles import SiteRole
from tests.service.campaigns import REFERENCE, SOURCE, given, submit_output, with_test_set
from tests.service.port import ADDRESS, Port
from tests.service.service import Service
from tests.web.api.campaigns.people import HERE, People

RATINGS = "annotator\tsystem\tsegment\tscore\n" + "".join(
    f"{annotator}\t{system}\t{segment}\t{score}\n"
    for annotator, system, segment, score in (
        *(("u", "mast", 0, 40), ("v", "mast", 0, 60), ("u", "mast", 1, 70), ("u", "mast", 2, 10)),
        *(("v", "keel", 0, 90), ("w", "keel", 1, 30), ("w", "keel", 2, 50)),
    )
)


@pytest.fixture
def judged(port: Port) -> Port:
    """The same judgments of two systems on two test sets, neither of them the first of the campaign."""
    for name in ("news", "talks"):
        source = SOURCE.replace(b"cat", name.encode())
        with_test_set(port.service.engine, "port 1", given(source=source), name=name)
        for system in ("mast", "keel"):
            lines = REFERENCE.replace(b"pes", system.encode())
            submit_output(port.service.engine, "port 1", "harbour", system, lines, test_set=name)
    return port


def add(port: Port, test_set: str, table: str = RATINGS, **fields: Any) -> dict[str, Any]:
    form = {"test_set": test_set, "called": "da", **fields}
    file = {"files": ("da.tsv", table.encode())}
    answer = port.program("ann").post(f"{ADDRESS}/human-scores", data=form, files=file)
    assert answer.status_code in (200, 201), answer.text
    return dict(answer.json())


def test_human_scores_say_how_much_was_judged(judged: Port) -> None:
    told = add(judged, "news")
    counted = {name: told[name] for name in ("judgments", "annotators", "judged_segments", "segment_scores")}
    # A segment that two systems have is one.
    assert counted == {"judgments": 7, "annotators": 3, "judged_segments": 3, "segment_scores": 6}
    assert told["test_set"] == "news"


def test_pages_of_judged_segments_follow_each_other_and_keep_what_was_given(judged: Port) -> None:
    add(judged, "talks", standardise="true")
    place, after, found = f"{ADDRESS}/human-scores/da/segments", "", []
    while after is not None and len(found) < 20:
        params = {"test_set": "talks", "limit": "2", "after": after}
        page = judged.program("ann").get(place, params=params).json()
        found += page["items"]
        after = page["next"]
    assert [(each["system"].rpartition("/")[2], each["segment"], each["n_judgments"]) for each in found] == [
        *(("keel", 0, 1), ("keel", 1, 1), ("keel", 2, 1), ("mast", 0, 2), ("mast", 1, 1), ("mast", 2, 1)),
    ]
    assert [each["raw"] for each in found] == [90.0, 30.0, 50.0, 50.0, 70.0, 10.0]
    assert all(each["score"] != each["raw"] for each in found), "scores are standardised, and raw ones are not"


def test_human_scores_of_one_test_set_are_deleted_and_those_of_another_stay(judged: Port) -> None:
    ann = judged.program("ann")
    for gone, stays in (("talks", "news"), ("news", "talks")):
        for test_set in ("news", "talks"):
            add(judged, test_set)
        assert ann.delete(f"{ADDRESS}/human-scores/da", params={"test_set": gone}).status_code == 204
        left = [each["test_set"] for each in ann.get(f"{ADDRESS}/human-scores").json()["items"]]
        assert set(left) == {stays}


def test_who_joins_is_told_of_the_team_that_joined(service: Service) -> None:
    people = People(service)
    people.found(visibility="public", joining="open")
    service.team("middle", people.eve)
    numbers = {}
    for program, team in ((people.lead, "harbour"), (people.stranger, "guests"), (people.stranger, "middle")):
        told = program.post(f"{HERE}/teams", json={"team": team})
        assert (told.status_code, told.json()["team"]) == (201, team)
        numbers[team] = told.json()["number"]
    listed = people.organiser.get(f"{HERE}/teams").json()["items"]
    assert {each["team"]: each["number"] for each in listed} == numbers
    assert len(set(numbers.values())) == 3


def test_the_version_of_a_campaign_is_told_to_its_organisers(service: Service) -> None:
    """It covers the test sets of phases to come, so that others would see when one is added."""
    people = People(service)
    people.found(visibility="public", joining="open")
    told = {name: getattr(people, name).get(HERE) for name in ("organiser", "lead", "stranger", "nobody")}
    assert [answer.status_code for answer in told.values()] == [200] * 4
    assert [name for name, answer in told.items() if "ETag" in answer.headers] == ["organiser"]


def test_a_quota_of_all_campaigns_has_its_days_where_it_was_said(service: Service) -> None:
    root = service.program(service.account("root", SiteRole.ADMINISTRATOR))
    for zone in ("Asia/Tokyo", "Europe/Prague"):
        wanted = {"kind": "per_day", "amount": 7, "time_zone": zone}
        told = root.put("/api/v1/quotas", json=wanted)
        assert told.status_code == 200, told.text
        listed = root.get("/api/v1/quotas").json()["items"]
        assert [{name: each[name] for name in wanted} for each in (told.json(), *listed)] == [wanted] * 2
