"""Imported scores by the API: who sees them, that nobody writes over unseen changes, and which test set is meant."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from campaigns.changes import version_of
from models.database.session import reading
from models.schema.roles import PhaseKind
from tests.scheduler.jobs import work_off
from tests.service.campaigns import given, submit_output, with_test_set
from tests.service.service import DAY, Service
from web.uploads.scores import MAX_FILES

HERE = "/api/v1/campaigns/wmt"


def file(value: float, name: str = "x.tsv", metrics: str = "X", **others: float) -> tuple[str, tuple[str, bytes, str]]:
    """Scores of the system "ant" by one metric, and by others."""
    rows = [(metrics, value), *others.items()]
    text = "system\tmetric\tsegment\tscore\n" + "".join(
        f"ant\t{metric}\t{segment}\t{score}\n" for metric, score in rows for segment in (1, 2, 3)
    )
    return "files", (name, text.encode(), "text/plain")


@pytest.fixture
def campaign(service: Service) -> int:
    """Two test sets, of one system; the fleet is a team of it."""
    team = service.team("fleet", service.account("tom"))
    campaign = service.campaign("wmt", organisers=(service.account("olga"),), teams=(team,))
    for name, source in (("news", b"x\ny\nz\n"), ("talks", b"u\nv\nw\n")):
        with_test_set(service.engine, "wmt", given(source=source), name=name, metrics=("bleu",))
        submit_output(service.engine, "wmt", "fleet", "ant", b"a\nb\nc\n", test_set=name)
    work_off(service.settings)
    return campaign


@pytest.fixture
def olga(service: Service, campaign: int) -> TestClient:
    return service.browser(2)


@pytest.fixture
def tom(service: Service, campaign: int) -> TestClient:
    return service.browser(1)


def sent(who: TestClient, *files: Any, status: int = 201, headers: dict[str, str] | None = None, **fields: Any) -> Any:
    answer = who.post(f"{HERE}/scores", files=files, data={"test_set": "news", **fields}, headers=headers)
    assert answer.status_code == status, answer.text
    return answer.json()


def listed(who: TestClient) -> list[tuple[str, str, str, bool]]:
    found = who.get(f"{HERE}/scores").json()["items"]
    return [(each["test_set"], each["name"], each["version"], each["shown"]) for each in found]


def test_scores_of_all_are_seen_by_whom_the_leaderboard_is_seen(
    service: Service, campaign: int, olga: TestClient, tom: TestClient
) -> None:
    sent(olga, file(1))
    everybody = (olga, tom, service.client())
    assert [who.get(f"{HERE}/scores").status_code for who in everybody] == [200] * 3
    service.phase(campaign, "blind", PhaseKind.BLIND, begins=-DAY, ends=DAY)
    assert [who.get(f"{HERE}/scores").status_code for who in everybody] == [200, 403, 403]
    assert listed(olga) == [("news", "X", "1", True)]
    assert "not shown in this phase" in tom.get(f"{HERE}/scores").text


def test_only_organisers_change_them(olga: TestClient, tom: TestClient, service: Service) -> None:
    sent(olga, file(1))
    for who, status in ((tom, 403), (service.client(), 401)):
        sent(who, ("files", ("odd.txt", b"no scores", "text/plain")), status=status)
        assert who.post(f"{HERE}/scores/X@1/choose").status_code == status
        assert who.delete(f"{HERE}/scores/X@1").status_code == status
        assert who.put(f"{HERE}/autorank", json={"rule": "wmt24"}).status_code == status
    assert listed(olga) == [("news", "X", "1", True)]


def test_nobody_writes_over_what_changed_meanwhile(service: Service, campaign: int, olga: TestClient) -> None:
    sent(olga, file(1))
    with reading(service.engine) as connection:
        stale = version_of(connection, campaign)
    olga.patch(HERE, json={"title": "Another"})
    with reading(service.engine) as connection:
        fresh = version_of(connection, campaign)
    old = {"If-Match": f'"{stale}"'}
    sent(olga, file(2), status=412, headers=old)
    assert olga.post(f"{HERE}/scores/X@1/choose", headers=old).status_code == 412
    assert olga.delete(f"{HERE}/scores/X@1", headers=old).status_code == 412
    assert olga.put(f"{HERE}/autorank", json={"rule": "wmt24"}, headers=old).status_code == 412
    assert listed(olga) == [("news", "X", "1", True)]
    sent(olga, file(2), headers={"If-Match": f'"{fresh}"'})
    assert [each[2:] for each in listed(olga)] == [("1", False), ("2", True)]


def test_a_test_set_is_that_which_is_named(olga: TestClient) -> None:
    for value in (1, 2):
        for test_set in ("news", "talks"):
            sent(olga, file(value), test_set=test_set)
    assert olga.post(f"{HERE}/scores/X@1/choose", params={"test_set": "talks"}).status_code == 204
    assert [each for each in listed(olga) if each[3]] == [("news", "X", "2", True), ("talks", "X", "1", True)]
    assert olga.delete(f"{HERE}/scores/X@2", params={"test_set": "talks"}).status_code == 204
    assert [each[0] + each[2] for each in listed(olga)] == ["news1", "news2", "talks1"]
    boards = {
        name: olga.get(f"{HERE}/leaderboard", params={"test_set": name}).json()["items"][0]["scores"][-1]["score"]
        for name in ("news", "talks")
    }
    assert boards == {"news": 2.0, "talks": 1.0}
    assert olga.delete(f"{HERE}/scores/X").status_code == 204
    assert listed(olga) == []
    board = olga.get(f"{HERE}/leaderboard", params={"test_set": "news"}).json()
    assert [each["title"] for each in board["items"][0]["scores"]] == ["BLEU"]


def test_what_is_said_of_files_is_noticed(olga: TestClient) -> None:
    told = sent(olga, file(1, metrics="X", Y=2), lower_is_better=["Y"])
    assert [(each["name"], each["higher_is_better"]) for each in told["columns"]] == [("X", True), ("Y", False)]
    two = "pair\tsystem\tmetric\tsegment\tscore\n" + "".join(
        f"{pair}\tant\tZ\t{segment}\t{score}\n" for pair, score in (("news", 5), ("talks", 6)) for segment in (1, 2, 3)
    )
    told = sent(olga, ("files", ("two.tsv", two.encode(), "text/plain")), test_set="", pairs=["talks"])
    assert [(each["test_set"], each["name"]) for each in told["columns"]] == [("talks", "Z")]
    ranked = olga.put(
        f"{HERE}/autorank", json={"rule": "wmt24", "metrics": {"news": ["X", "Y"], "talks": ["Z"]}, "weights": {}}
    ).json()
    assert ranked["ranked_by"] == "autorank:rule=wmt24"
    assert {name: columns[-1].split(":of=")[1] for name, columns in ranked["columns"].items()} == {
        "news": "2,3",
        "talks": "2",
    }
    weighted = olga.put(
        f"{HERE}/autorank", json={"rule": "wmt25", "metrics": {"": ["BLEU"]}, "weights": {"": [3]}}
    ).json()
    assert all("autorank:rule=wmt25:of=1:weights=3" in columns for columns in weighted["columns"].values())


def test_numbers_and_names_of_files_are_limited(olga: TestClient) -> None:
    many = [file(1, f"{number}.tsv") for number in range(MAX_FILES + 1)]
    assert f"Send 1 to {MAX_FILES} files" in json.dumps(sent(olga, *many, status=422))
    assert "Send each once" in json.dumps(sent(olga, file(1), file(2), status=422))
    told = sent(olga, file(1, "../../en-cs/x.tsv"), file(2, "de-en/x.tsv", metrics="W"))
    assert [each["name"] for each in told["columns"]] == ["X", "W"]


def test_pages_of_versions(olga: TestClient) -> None:
    for value in range(3):
        sent(olga, file(value))
    first = olga.get(f"{HERE}/scores", params={"limit": 2}).json()
    rest = olga.get(f"{HERE}/scores", params={"limit": 2, "after": first["next"]}).json()
    assert [each["version"] for page in (first, rest) for each in page["items"]] == ["1", "2", "3"]
    assert rest["next"] is None
    assert [len(each["files"][0]["sha256"]) for each in first["items"]] == [64, 64]
