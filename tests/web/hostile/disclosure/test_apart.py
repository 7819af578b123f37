"""Two campaigns with the very same test set: an organiser of one learns nothing of the other.

Rows of test sets are shared by their content. What hangs on such a row is everybody's who can make one like it, and
whoever knows the source and guesses the references of a blind campaign, or was given them before, can.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from fastapi.testclient import TestClient

from models.schema.roles import PhaseKind, SiteRole
from tests.scheduler.jobs import work_off
from tests.service.campaigns import SOURCE, submit_output, with_test_set
from tests.service.service import Service

OURS, THEIRS = "ours", "theirs"
TABLE = "system\tscore\ncanarysystem\t{score}\nmast\t1\n"


@pytest.fixture
def organisers(service: Service) -> tuple[TestClient, TestClient]:
    """Those of two private campaigns with one test set."""
    clients = []
    for name, who in ((OURS, "olga"), (THEIRS, "oscar")):
        account = service.account(who)
        service.campaign(name, organisers=(account,))
        with_test_set(service.engine, name)
        clients.append(service.program(account))
    return clients[0], clients[1]


def add(client: TestClient, campaign: str, score: float = 2, called: str = "da") -> None:
    files = [("files", ("da.tsv", TABLE.format(score=score).encode()))]
    answer = client.post(f"/api/v1/campaigns/{campaign}/human-scores", files=files, data={"called": called})
    assert answer.status_code == 201, answer.text


def known(client: TestClient, campaign: str) -> list[str]:
    items = client.get(f"/api/v1/campaigns/{campaign}/human-scores").json()["items"]
    return [f"{each['name']}@{each['version']}" for each in items]


def test_human_scores_are_of_the_campaign_that_has_them(organisers: tuple[TestClient, TestClient]) -> None:
    olga, oscar = organisers
    add(olga, OURS)
    assert known(oscar, THEIRS) == []
    assert "canarysystem" not in oscar.get(f"/api/v1/campaigns/{THEIRS}/correlations").text
    assert "canarysystem" not in oscar.get(f"/campaigns/{THEIRS}/metrics").text
    add(oscar, THEIRS, called="mqm")
    add(oscar, THEIRS, 3)
    assert (known(olga, OURS), known(oscar, THEIRS)) == (["da@1"], ["da@1", "mqm@1"]), "versions are counted apart"
    assert oscar.get(f"/api/v1/campaigns/{THEIRS}/correlations?human=da@2").status_code == 404
    assert oscar.delete(f"/api/v1/campaigns/{THEIRS}/human-scores/da@1").status_code == 204
    assert known(olga, OURS) == ["da@1"]
    assert olga.delete(f"/api/v1/campaigns/{OURS}/human-scores/mqm@1").status_code == 404


def upload(client: TestClient, campaign: str, reference: bytes) -> dict[str, Any]:
    files = [("references", ("A.txt", reference)), ("source", ("source.txt", SOURCE))]
    fields = {"name": "news", "metrics": "bleu"}
    answer = client.post(f"/api/v1/campaigns/{campaign}/test-sets", files=files, data=fields)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def test_names_and_versions_of_test_sets_are_counted_in_a_campaign(organisers: tuple[TestClient, TestClient]) -> None:
    """A number that was skipped told that somebody has a test set of that name; so did what a shared one is called."""
    olga, oscar = organisers
    for number in range(2):
        upload(oscar, THEIRS, b"kocka\npes\n%d\n" % number)
    assert upload(olga, OURS, b"kocka\npes\nvila\n")["version"] == "2"
    # The very content that the other has under another version is called as here.
    assert upload(olga, OURS, b"kocka\npes\n1\n")["version"] == "3"
    known = oscar.get(f"/api/v1/campaigns/{THEIRS}/test-sets").json()["items"]
    assert [(each["name"], each["version"]) for each in known] == [("news", version) for version in "123"]


SECRETS = re.compile(
    r"(?<=[/ #>\"])\d+(?=[/ <\"])|\d{4}-\d\d-\d\dT[^\"]+|\d\d:\d\d|(?<=value=\")[^\"]{20,}|[0-9a-f]{64}"
)
"""What differs between any two submissions: numbers of rows, moments, secrets of forms, hashes of texts."""


def told(client: TestClient, campaign: str, lines: bytes, system: str) -> list[Any]:
    """All that a team sees of an output that it has just submitted."""
    files = {"file": ("out.txt", lines)}
    answer = client.post(f"/api/v1/campaigns/{campaign}/submissions", data={"system": system}, files=files)
    assert answer.status_code == 201, answer.text
    number, evaluation = answer.json()["id"], answer.json()["evaluations"][0]["id"]
    documents = [answer.json()]
    for address in (f"submissions/{number}", f"evaluations/{evaluation}", f"campaigns/{campaign}/submissions"):
        documents.append(client.get(f"/api/v1/{address}").json())
    documents[-1] = documents[-1]["items"][0]
    page = SECRETS.sub("", client.get(f"/submissions/{number}").text.replace(system, ""))
    return [*(_without_names(each) for each in documents), page]


VARYING = ("id", "system", "submission", "created_at", "evaluation", "quotas", "ahead")


def _without_names(document: Any) -> Any:
    if isinstance(document, dict):
        return {key: _without_names(each) for key, each in document.items() if key not in VARYING}
    return [_without_names(each) for each in document] if isinstance(document, list) else document


def test_nobody_learns_that_another_campaign_has_measured_an_output(service: Service) -> None:
    """No shard and "computing totals" at once, where others wait, said that somebody has submitted the very same."""
    mary, oscar = service.account("mary"), service.account("oscar", SiteRole.ORGANISER)
    team = service.team("gulls", mary)
    for name, who, teams in ((OURS, oscar, (team,)), (THEIRS, service.account("olga"), ())):
        campaign = service.campaign(name, organisers=(who,), teams=teams)
        service.phase(campaign, "open", PhaseKind.OPEN)
        with_test_set(service.engine, name)
    theirs, new = b"kocka\npes\nstavba\n", b"kocka\npes\nbudova\n"
    submit_output(service.engine, THEIRS, "terns", "dive", theirs)
    work_off(service.settings)
    client = service.program(mary)
    found = []
    for lines, system in ((theirs, "soar"), (new, "glide")):
        found.append(told(client, OURS, lines, system))
        queue = service.browser(oscar).get("/queue").text
        work_off(service.settings)
    assert found[0] == found[1]
    assert "Campaigns in progress" in queue
    assert '">Shards</th>' not in queue
