"""What organisers delete by pages: what goes is said first, a name is typed, and nobody else can."""

from __future__ import annotations

import re

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from models.database.session import reading
from models.schema.accounts import AuditEntry, Team
from models.schema.campaigns import Campaign, Participation
from models.schema.corpus import Submission, System
from models.schema.human import Judgments
from models.schema.imported import ScoreImport
from models.schema.roles import SiteRole
from tests.service.campaigns import found, submit_output, with_test_set
from tests.service.port import NAME, Port, output
from tests.service.service import Service
from tests.web.pages.forms_of import form_with

HERE = "/campaigns/port%201"
DANGER = f"{HERE}/manage/danger"
DELETE = f"{HERE}/manage/delete"


@pytest.fixture
def port(service: Service) -> Port:
    """A campaign with two outputs of harbour, and one of guests."""
    port = Port.opened(service)
    for who, system, seed in (("mary", "mast", 1), ("mary", "keel", 2), ("zoe", "oar", 3)):
        assert port.submit(port.program(who), output(seed), system=system).status_code == 201
    port.work_off()
    return port


@pytest.fixture
def ann(port: Port) -> TestClient:
    return port.browser("ann")


def count(port: Port, table: type, *where: object) -> int:
    with reading(port.service.engine) as connection:
        return connection.scalar(select(func.count()).select_from(table).where(*where)) or 0  # type: ignore[arg-type]


def delete(browser: TestClient, typed: str, status: int = 303, **what: str) -> str:
    """Look at the confirmation, and send it; its text is the answer's."""
    shown = browser.get(DELETE, params=what)
    assert shown.status_code == 200, shown.text
    assert "This cannot be undone." in shown.text
    # What is deleted is said by the fields of the page: the query of its address is not read.
    fields = {name: value for name, (value, *_) in form_with(shown.text, ["typed"]).items()}
    answer = browser.post(DELETE, data={**fields, "typed": typed}, follow_redirects=False)
    assert answer.status_code == status, answer.text
    return shown.text if status == 303 else answer.text


def test_a_team_goes_from_the_campaign_with_its_submissions(port: Port, ann: TestClient) -> None:
    page = ann.get(DANGER).text
    assert re.search(r"harbour</bdi></th><td class=\"number\"><a [^>]*>2</a>", page)
    shown = delete(ann, "harbour", what="team", which="harbour")
    assert re.search(r"submissions: <strong class=\"number\">2</strong>", shown)
    assert "/api/v1/campaigns/port%201/export" in shown
    assert count(port, Submission) == 2, "guests' and the organisers' own"
    assert count(port, Team, Team.name == "harbour") == 1
    assert count(port, Participation) == 1
    assert count(port, AuditEntry, AuditEntry.action == "campaign.delete_team") == 1
    assert "harbour" not in ann.get(DANGER).text


def test_submissions_to_another_campaign_are_not_counted(port: Port, ann: TestClient) -> None:
    before = re.findall(r"<bdi>([^<]*)</bdi></th><td class=\"number\">(.*?)</td>", ann.get(DANGER).text)
    assert [re.sub(r"<[^>]*>", "", counted) for _, counted in before] == ["1", "2"]
    engine = port.service.engine
    found(engine, "elsewhere")
    with_test_set(engine, "elsewhere")
    submit_output(engine, "elsewhere", "harbour", "mast", b"a\nb\nc\n")
    after = ann.get(DANGER).text
    assert re.findall(r"<bdi>([^<]*)</bdi></th><td class=\"number\">(.*?)</td>", after) == before


@pytest.mark.parametrize(
    ("what", "word"),
    [({"what": "campaign"}, NAME), ({"what": "team", "which": "harbour"}, "harbour")],
)
def test_another_name_deletes_nothing(port: Port, ann: TestClient, what: dict[str, str], word: str) -> None:
    for typed in ("", "no", word.upper()):
        shown = delete(ann, typed, 422, **what)
        assert f"Type {word} to delete it." in shown
        assert 'aria-invalid="true"' in shown
    assert (count(port, Campaign), count(port, Submission)) == (1, 4)


def test_a_submission_is_deleted_from_its_page(port: Port, ann: TestClient) -> None:
    with reading(port.service.engine) as connection:
        mast = connection.scalar(select(Submission.id).join(System).where(System.name == "mast"))
    link = re.search(r'href="([^"]+/manage/delete\?[^"]+)"', ann.get(f"/submissions/{mast}").text)
    assert link
    assert link[1].replace("&amp;", "&") == f"{DELETE}?what=submission&which={mast}"
    assert "scores: <strong" in delete(ann, "mast", what="submission", which=str(mast))
    assert count(port, Submission) == 3
    assert ann.get(f"/submissions/{mast}").status_code == 404
    assert "manage/delete" not in port.browser("zoe").get(f"/submissions/{mast + 2}").text


def test_a_submission_of_another_campaign_is_not_there(port: Port, ann: TestClient) -> None:
    port.service.campaign("other", organisers=(port.accounts["ann"],))
    with reading(port.service.engine) as connection:
        mast = connection.scalar(select(Submission.id).join(System).where(System.name == "mast"))
    for which in (str(mast), "x", "", "9" * 30):
        assert (
            ann.get("/campaigns/other/manage/delete", params={"what": "submission", "which": which}).status_code == 404
        )


def test_imports(port: Port, ann: TestClient) -> None:
    assert "Nothing was imported." in ann.get(DANGER).text
    table = b"system\tmetric\tscore\nharbour/mast\tX\t0.4\nguests/oar\tX\t0.5\n"
    answer = ann.post(f"{HERE}/scores", files={"files": ("x.tsv", table)})
    assert answer.status_code == 200, answer.text
    human = b"system\tscore\nmast\t0.4\noar\t0.3\n"
    answer = ann.post(f"{HERE}/metrics", data={"test_set": "quay", "called": "da"}, files={"files": ("h.tsv", human)})
    assert answer.status_code == 200, answer.text
    assert (count(port, ScoreImport), count(port, Judgments)) == (1, 1)
    page = ann.get(DANGER).text
    assert "scores of 2 systems" in page
    shown = delete(ann, "X@1", what="scores", which="X@1", test_set="quay")
    assert "columns of leaderboards: <strong" in shown
    assert "X@1" not in ann.get(f"{HERE}/leaderboard").text
    assert "scores of systems: <strong" in delete(ann, "da@1", what="judgments", which="da@1", test_set="quay")
    assert (count(port, ScoreImport), count(port, Judgments)) == (0, 0)
    for what in ("scores", "judgments"):
        gone = {"what": what, "which": "X@1", "test_set": "quay"}
        assert ann.get(DELETE, params=gone).status_code == 404
        assert ann.post(DELETE, data={**gone, "typed": "X@1"}).status_code == 404


def test_a_campaign(port: Port, ann: TestClient) -> None:
    assert "teams: <strong" in delete(ann, NAME, what="campaign")
    assert (count(port, Campaign), count(port, Submission), count(port, Team)) == (0, 0, 2)
    assert count(port, AuditEntry, AuditEntry.action == "campaign.delete") == 1
    assert "Campaign deleted." in ann.get("/?deleted=campaign").text
    assert ann.get(DANGER).status_code == 404


def test_others_see_and_delete_nothing(port: Port) -> None:
    mary = port.browser("mary")
    for path in (DANGER, DELETE):
        assert mary.get(path).status_code == 403
    assert mary.post(DELETE, data={"what": "campaign", "typed": NAME}).status_code == 403
    assert count(port, Campaign) == 1


def test_a_whole_team_by_administrators(port: Port) -> None:
    root = port.service.browser(port.service.account("root", SiteRole.ADMINISTRATOR))
    assert "/teams/harbour/delete" in root.get("/teams/harbour").text
    assert "/teams/harbour/delete" not in port.browser("mary").get("/teams/harbour").text
    assert "members: <strong" in root.get("/teams/harbour/delete").text
    answer = root.post("/teams/harbour/delete", data={"typed": "guests"})
    assert answer.status_code == 422
    assert "Type harbour to delete it." in answer.text
    assert port.browser("mary").post("/teams/harbour/delete", data={"typed": "harbour"}).status_code == 403
    answer = root.post("/teams/harbour/delete", data={"typed": "harbour"})
    assert "Team deleted." in answer.text
    assert count(port, Submission) == 2
