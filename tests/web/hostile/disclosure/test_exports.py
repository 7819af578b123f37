"""What leaves a campaign by pages, API and exports: the same, and nothing that is to come."""

from __future__ import annotations

import csv
import io
import zipfile
from dataclasses import dataclass

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update

from models.database.session import writing
from models.schema.base import now
from models.schema.campaigns import Declaration, Phase
from models.schema.corpus import Submission
from models.schema.roles import DeclaredKind, PhaseKind
from tests.scheduler.jobs import work_off
from tests.service.campaigns import given, submit_output, with_test_set
from tests.service.service import DAY, Service

API = "/api/v1/campaigns/bay"
SOON = given(reference=b"canarysoon\nx\ny\n", source=b"canarysource\nx\ny\n")


@dataclass
class Site:
    """A campaign whose first phase is over and published, and whose later one is to come."""

    service: Service
    organiser: TestClient
    lead: TestClient
    """Of the team "harbour"."""
    rival: TestClient
    now_set: int
    soon_set: int
    outputs: dict[str, int]
    """Submissions by system; "early" is the organisers' for the later test set."""

    def everybody_else(self) -> dict[str, TestClient]:
        """All but organisers."""
        return {"lead": self.lead, "rival": self.rival, "nobody": self.service.client()}


@pytest.fixture
def site(service: Service) -> Site:
    olga, mary, eve = (service.account(name) for name in ("olga", "mary", "eve"))
    teams = service.team("harbour", mary), service.team("canaryteam", eve)
    campaign = service.campaign("bay", organisers=(olga,), teams=teams, anonymous=True)
    phase = service.phase(campaign, "now", PhaseKind.PUBLISHED)
    later = service.phase(campaign, "later", PhaseKind.OPEN, begins=20 * DAY)
    assert phase != later
    first = with_test_set(service.engine, "bay", name="news")
    soon = with_test_set(service.engine, "bay", SOON, name="canaryname", phase="later")
    news = {"test_set": "news"}
    contrastive = {**news, "declared": DeclaredKind.CONTRASTIVE}
    outputs = {
        "first": submit_output(
            service.engine, "bay", "canaryteam", "canaryrow", b"first\nx\ny\n", run="canaryrun", **news
        ),
        "last": submit_output(
            service.engine, "bay", "canaryteam", "canaryrow", b"last\nx\ny\n", run="canaryrun", **news
        ),
        "second": submit_output(service.engine, "bay", "canaryteam", "other", b"second\nx\ny\n", **contrastive),
        "ours": submit_output(service.engine, "bay", "harbour", "mast", b"ours\nx\ny\n", **news),
        "early": submit_output(service.engine, "bay", "harbour", "mast", b"early\nx\ny\n", test_set="canaryname"),
    }
    work_off(service.settings)
    programs = [service.program(each) for each in (olga, mary, eve)]
    return Site(service, *programs, first, soon, {name: each.submission for name, each in outputs.items()})


def exported(client: TestClient) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(client.get(f"{API}/export").content)) as file:
        return {name: file.read(name).decode() for name in file.namelist()}


def rows(files: dict[str, str], name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(files[name], newline=""), delimiter="\t", strict=True))


def open_now(site: Site) -> None:
    with writing(site.service.engine) as connection:
        connection.execute(update(Phase).where(Phase.name == "now").values(kind=PhaseKind.OPEN))


def test_nothing_of_a_test_set_of_a_later_phase_leaves(site: Site) -> None:
    early = site.outputs["early"]
    for who, client in site.everybody_else().items():
        files = exported(client)
        everything = "\n".join([*files, *files.values()])
        for word in ("canarysoon", "canarysource", "canaryname", "early"):
            assert word not in everything, who
        for address in (f"/submissions/{early}", f"/submissions/{early}/output", f"/api/v1/submissions/{early}"):
            assert client.get(address).status_code in (401, 404), (who, address)
        for address in (
            *("/campaigns/bay", "/campaigns/bay/segments", "/campaigns/bay/leaderboard", "/campaigns/bay/metrics"),
            *(
                f"{API}/test-sets",
                f"{API}/test-sets/none",
                f"{API}/systems",
                f"{API}/submissions",
                f"{API}/corrections",
            ),
            *(f"{API}/leaderboard?test_set=none", f"{API}/segments?test_set=none", f"{API}/correlations?test_set=none"),
            *("/campaigns/bay/submit", "/campaigns/bay/submissions", f"{API}/segments?test_set={site.soon_set}"),
        ):
            assert "canaryname" not in client.get(address).text, (who, address)
        named = client.post(f"{API}/submissions", data={"system": "x", "test_set": "none"}, files={"file": b"x\n"})
        assert "canaryname" not in named.text
    assert "canaryname" in exported(site.organiser)["test-sets.tsv"]
    assert site.organiser.get(f"/submissions/{early}/output").text == "early\nx\ny\n"
    with writing(site.service.engine) as connection:
        connection.execute(update(Phase).where(Phase.name == "later").values(starts_at=now() - 1))
    assert "canaryname" in exported(site.lead)["test-sets.tsv"]
    assert str(early) in {row["id"] for row in rows(exported(site.lead), "submissions.tsv")}


def test_references_that_were_released_before_their_phase_wait_for_it(site: Site) -> None:
    answer = site.organiser.patch(f"{API}/test-sets/{site.soon_set}", json={"released": True, "early": True})
    assert answer.status_code == 200, answer.text
    for client in site.everybody_else().values():
        assert client.get(f"{API}/test-sets/{site.soon_set}/references/A").status_code == 404
        assert "canarysoon" not in "".join(exported(client).values())


def test_in_an_anonymous_open_phase_nothing_in_an_export_says_who_is_who(site: Site) -> None:
    open_now(site)
    for who in ("lead", "nobody"):
        files = exported(site.everybody_else()[who])
        everything = "\n".join([*files, *files.values()])
        assert "canary" not in everything, who
        theirs = [row for row in rows(files, "submissions.tsv") if row["team"].startswith("Team")]
        assert {row["run"] + row["system"] + row["created_at"] + row["description"] for row in theirs} <= {""}
    own = rows(exported(site.rival), "submissions.tsv")
    assert {row["run"] for row in own if row["team"] == "canaryteam"} == {"canaryrun", ""}


def test_others_get_the_attempts_that_stand_and_their_scores_alone(site: Site) -> None:
    outputs = site.outputs
    for kind in ("open", "published"):
        if kind == "open":
            open_now(site)
        files = exported(site.service.client())
        there = {int(row["id"]) for row in rows(files, "submissions.tsv")}
        board = site.service.client().get(f"{API}/leaderboard?shown=all").json()["items"]
        shown = {each for item in board for each in item["submissions"]}
        assert there == shown == {outputs["last"], outputs["second"], outputs["ours"]}
        assert {int(row["submission"]) for row in rows(files, "scores.tsv")} == there
        with writing(site.service.engine) as connection:
            connection.execute(update(Phase).where(Phase.name == "now").values(kind=PhaseKind.PUBLISHED))
    assert {int(row["id"]) for row in rows(exported(site.rival), "submissions.tsv")} >= {outputs["first"]}


def test_what_is_published_is_what_is_ranked_and_what_was_declared(site: Site) -> None:
    """A team that declares no output contrastive has one that counts: the others it only tried."""
    outputs, client = site.outputs, site.service.client()
    tried = submit_output(site.service.engine, "bay", "harbour", "keel", b"tried\nx\ny\n", test_set="news").submission
    with writing(site.service.engine) as connection:
        primary = Declaration.submission_id == outputs["ours"]
        connection.execute(update(Declaration).where(primary).values(kind=DeclaredKind.PRIMARY))
        connection.execute(update(Submission).where(Submission.id == outputs["ours"]).values(created_at=now()))

    def public(name: str, number: int) -> bool:
        in_export = [text for text in exported(client).values() if text.startswith(name)]
        by_number = client.get(f"/submissions/{number}/output")
        side_by_side = client.get(f"{API}/segments?test_set=news&system={number}")
        found = {bool(in_export), by_number.status_code == 200, side_by_side.status_code == 200}
        assert len(found) == 1, (name, in_export, by_number.status_code, side_by_side.text)
        return found.pop()

    seen = {name for name, number in {**outputs, "tried": tried}.items() if public(name, number)}
    assert seen == {"last", "second", "ours"}
