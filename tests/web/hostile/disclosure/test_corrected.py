"""References that are corrected: what anybody learns of the old ones, the new ones, and who is who."""

from __future__ import annotations

import csv
import io
import zipfile
from dataclasses import dataclass

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from models.database.session import reading
from models.schema.accounts import Team
from models.schema.campaigns import Participation
from models.schema.roles import DeclaredKind, Feedback, PhaseKind
from tests.scheduler.jobs import work_off
from tests.service.campaigns import given, submit_output, with_test_set
from tests.service.service import DAY, Service

API = "/api/v1/campaigns/bay"
OLD = b"canaryold the boat sails over the bay\nthe gull cries\nthe ferry waits\n"
NEW = b"canarynew the boat sails over the bay\nthe gull cries\nthe ferry waits\n"
SAME = b"the boat sails over the bay\nthe gull cries\nthe ferry waits\n"


@dataclass
class Corrected:
    """An anonymous campaign whose references were corrected."""

    service: Service
    organiser: TestClient
    clients: dict[str, TestClient]
    """All others."""
    number: int
    """Of the correction."""
    old_set: int
    new_set: int


def corrected(service: Service, kind: PhaseKind, *, begins: float = -DAY, released: bool = False) -> Corrected:
    olga, mary, eve = (service.account(name) for name in ("olga", "mary", "eve"))
    # By their names they stand in another order than by their submissions.
    teams = service.team("zebra", mary), service.team("aardvark", eve)
    campaign = service.campaign("bay", organisers=(olga,), teams=teams, anonymous=True)
    service.phase(campaign, "first", PhaseKind.OPEN, begins=-2 * DAY)
    service.phase(campaign, "now", kind, begins=begins, feedback=Feedback.ROUNDED)
    test_set = with_test_set(
        service.engine, "bay", given(reference=OLD, source=b"canarysource\nb\nc\n"), name="news", phase="now"
    )
    submit_output(service.engine, "bay", "zebra", "mast", SAME)
    submit_output(service.engine, "bay", "aardvark", "keel", SAME)
    submit_output(service.engine, "bay", "aardvark", "hull", b"nothing\nof\nit\n", declared=DeclaredKind.CONTRASTIVE)
    work_off(service.settings)
    organiser = service.program(olga)
    if released:
        answer = organiser.patch(f"{API}/test-sets/{test_set}", json={"released": True, "early": True})
        assert answer.status_code == 200, answer.text
    answer = organiser.post(
        f"{API}/corrections",
        data={"test_set": test_set, "reason": "canaryreason"},
        files=[("references", ("A.txt", NEW))],
    )
    assert answer.status_code == 201, answer.text
    work_off(service.settings)
    made = answer.json()
    clients = {"zebra": service.program(mary), "aardvark": service.program(eve), "nobody": service.client()}
    return Corrected(service, organiser, clients, made["id"], made["old_test_set"], made["new_test_set"])


def exported(client: TestClient) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(client.get(f"{API}/export").content)) as file:
        return {name: file.read(name).decode() for name in file.namelist()}


def everything(site: Corrected, client: TestClient) -> str:
    """All that somebody gets of the campaign, errors included."""
    pages = (
        *("", "/leaderboard", "/segments", "/metrics", "/compare", "/submissions", "/submit"),
        *(f"/corrections/{site.number}", "/manage"),
        *(f"/segments?test_set={each}" for each in (site.old_set, site.new_set)),
    )
    api = (
        *("", "/test-sets", "/corrections", f"/corrections/{site.number}", "/leaderboard?shown=all", "/systems"),
        *("/submissions", "/human-scores", "/correlations"),
        *(f"/test-sets/{each}{what}" for each in (site.old_set, site.new_set) for what in ("", "/source")),
        *(f"/test-sets/{each}/references/A" for each in (site.old_set, site.new_set)),
        *(f"/segments?test_set={each}" for each in (site.old_set, site.new_set)),
    )
    addresses = [f"/campaigns/bay{each}" for each in pages] + [f"{API}{each}" for each in api]
    addresses += [f"/api/v1/submissions/{each}" for each in range(1, 7)] + [
        f"/submissions/{each}" for each in range(1, 7)
    ]
    files = exported(client)
    return "\n".join([*(client.get(each).text for each in addresses), *files, *files.values()])


@pytest.mark.parametrize("kind", [PhaseKind.OPEN, PhaseKind.BLIND, PhaseKind.PUBLISHED])
def test_a_correction_releases_neither_references(service: Service, kind: PhaseKind) -> None:
    site = corrected(service, kind)
    for who, client in site.clients.items():
        found = everything(site, client)
        assert "canaryold" not in found, who
        assert "canarynew" not in found, who
    answer = site.organiser.patch(f"{API}/test-sets/{site.new_set}", json={"released": True, "early": True})
    assert answer.status_code == 200, answer.text
    found = everything(site, site.clients["nobody"])
    assert ("canarynew" in found, "canaryold" in found) == (True, False), "the old ones wait until they are released"


def test_of_a_released_test_set_both_are_public(service: Service) -> None:
    site = corrected(service, PhaseKind.PUBLISHED, released=True)
    found = everything(site, site.clients["nobody"])
    assert "canarynew" in found
    assert "canaryold" in found


def test_nothing_is_disclosed_of_a_correction_before_its_phase(service: Service) -> None:
    site = corrected(service, PhaseKind.OPEN, begins=DAY, released=True)
    for who, client in site.clients.items():
        found = everything(site, client)
        for word in ("canaryold", "canarynew", "canaryreason", "canarysource", "news"):
            assert word not in found, (who, word)


def test_scores_before_and_after_are_shown_where_the_board_is(service: Service) -> None:
    site = corrected(service, PhaseKind.BLIND)
    for who, client in site.clients.items():
        assert client.get(f"{API}/corrections/{site.number}").status_code == 403, who
        page = client.get(f"/campaigns/bay/corrections/{site.number}", follow_redirects=False)
        assert page.status_code == (303 if who == "nobody" else 403), who
        assert not [*csv.DictReader(io.StringIO(exported(client)["scores.tsv"]), delimiter="\t")], who


def test_nothing_in_a_correction_says_who_is_who(service: Service) -> None:
    """Neither by a name nor by the order in which those stand that have the same rank."""
    site = corrected(service, PhaseKind.OPEN)
    client = site.clients["nobody"]
    found = everything(site, client)
    for word in ("zebra", "aardvark", "mast", "keel", "hull"):
        assert word not in found, word
    with reading(service.engine) as connection:
        asked = select(Team.name, Participation.number).join(Participation, Participation.team_id == Team.id)
        number = {row.name: f"Team {row.number}" for row in connection.execute(asked)}
    for metric in client.get(f"{API}/corrections/{site.number}").json()["metrics"]:
        ties = [row["team"] for row in metric["systems"] if row["new_rank"] == 1]
        assert ties == [number["zebra"], number["aardvark"]], "as they came"
    page = service.browser(service.account("stranger")).get("/campaigns/bay/metrics").text
    assert page.index(number["zebra"]) < page.index(number["aardvark"])
