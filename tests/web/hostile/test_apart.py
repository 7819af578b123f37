"""Two campaigns with the very same test set: an organiser of one learns nothing of the other.

Rows of test sets are shared by their content. What hangs on such a row is everybody's who can make one like it, and
whoever knows the source and guesses the references of a blind campaign, or was given them before, can.
"""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from tests.web.life.campaigns import with_test_set
from tests.web.service import Service

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
