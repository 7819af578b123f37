"""A campaign in a zip: everything for organisers, what is seen for others."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from sqlalchemy import func, insert, select, update

from campaigns.accounts.principal import COMMAND_LINE, EVERY_SCOPE, NOBODY, Principal
from campaigns.exports.archive import safe_name
from campaigns.exports.campaign import export_campaign
from campaigns.test_sets.files import NamedContent
from models.database.session import reading, writing
from models.schema.accounts import AuditEntry
from models.schema.base import now
from models.schema.campaigns import (
    Campaign,
    CampaignMember,
    CampaignTerms,
    CampaignTestSet,
    Declaration,
    Phase,
)
from models.schema.corpus import Submission
from models.schema.queue import Evaluation
from models.schema.results import Score
from models.schema.roles import CampaignRole, Feedback, PhaseKind, SiteRole, TeamRole
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric
from tests.campaigns.exports.exported import LANGUAGES, OURS, THEIRS, exported, rows
from tests.scheduler.jobs import work_off
from tests.service.campaigns import REFERENCE, SOURCE, given, submit_output, with_test_set
from tests.service.service import DAY, Service


@pytest.fixture
def site(service: Service) -> Service:
    """A blind campaign with an anonymous rival, whose texts and names are canaries."""
    olga, mary, eve = (service.account(name) for name in ("olga", "mary", "eve"))
    teams = service.team("harbour", mary), service.team("canaryteam", eve)
    campaign = service.campaign("wmt", organisers=(olga,), teams=teams, anonymous=True)
    documents = NamedContent("docs.tsv", b"segment\tdoc_id\n0\t=cmd()\n1\tb\n2\tb\n")
    with_test_set(service.engine, "wmt", given(documents=documents))
    submit_output(service.engine, "wmt", "harbour", "mast", OURS, description="@sum\nours")
    submit_output(service.engine, "wmt", "canaryteam", "canarysystem", THEIRS, description="canarywords")
    work_off(service.settings)
    service.phase(campaign, "test", PhaseKind.BLIND, ends=DAY, feedback=Feedback.ROUNDED)
    return service


def member(account: int) -> Principal:
    return Principal(account, role=SiteRole.PARTICIPANT, scopes=EVERY_SCOPE, teams={"harbour": TeamRole.MEMBER})


def test_organisers_get_everything(site: Service) -> None:
    files = exported(site, COMMAND_LINE)
    assert files["test-sets/1-news-1/source.txt"] == SOURCE
    assert files["test-sets/1-news-1/refs/0-A.txt"] == REFERENCE
    assert files["outputs/1-harbour-mast.txt"] == OURS
    assert files["outputs/2-canaryteam-canarysystem.txt"] == THEIRS
    ours, theirs = rows(files, "submissions.tsv")
    assert (ours["description"], theirs["team"]) == ("'@sum\nours", "canaryteam")
    assert [each["doc_id"] for each in rows(files, "test-sets/1-news-1/docs.tsv")] == ["'=cmd()", "b", "b"]
    scores = list(rows(files, "scores.tsv"))
    assert [(each["submission"], each["metric"].partition(":")[0]) for each in scores] == [
        *(("1", "bleu"), ("1", "chrf"), ("2", "bleu"), ("2", "chrf")),
    ]
    assert all(float(each["score"]) > 0 for each in scores if each["metric"].startswith("chrf"))
    assert "olga@example.org" in files["members.tsv"].decode()
    assert b"test_set.add" in files["audit.tsv"]


def test_a_team_gets_its_own_and_nobody_gets_what_is_blind(site: Service) -> None:
    vera = site.account("vera")
    with writing(site.engine) as connection:
        invited = {
            "campaign_id": connection.scalar(select(Campaign.id)),
            "account_id": vera,
            "role": CampaignRole.VIEWER,
        }
        connection.execute(insert(CampaignMember).values(**invited))
    viewer = Principal(vera, role=SiteRole.PARTICIPANT, scopes=EVERY_SCOPE)
    own, looking, outside = (exported(site, each) for each in (member(2), viewer, NOBODY))
    assert own["outputs/1-harbour-mast.txt"] == OURS
    assert [each["team"] for each in rows(own, "submissions.tsv")] == ["harbour"]
    for files in (own, looking, outside):
        assert not list(rows(files, "scores.tsv")), "rounded feedback is not a score"
        everything = b"\n".join([*files.values(), *(name.encode() for name in files)])
        assert b"canary" not in everything.replace(OURS, b"")
        assert b"kocka" not in everything
        assert b"@example.org" not in everything
        assert not {"members.tsv", "audit.tsv", "teams.tsv"} & set(files)
    assert not list(rows(outside, "submissions.tsv"))


def test_what_is_published_is_everybodys(site: Service) -> None:
    campaign = site.campaign("wmt")
    site.phase(campaign, "results", PhaseKind.PUBLISHED, begins=-1)
    with writing(site.engine) as connection:
        for version, text in enumerate(("Draft.", "Be kind."), 1):
            connection.execute(insert(CampaignTerms).values(campaign_id=campaign, version=version, text=text))
        connection.execute(update(Declaration).where(Declaration.submission_id == 1).values(withdrawn_at=now()))
    files = exported(site, NOBODY)
    assert [each["team"] for each in rows(files, "submissions.tsv")] == ["canaryteam"]
    # No page shows others what a team says of its submission, though they see its output.
    assert [(each["description"], each["created_at"]) for each in rows(files, "submissions.tsv")] == [("", "")]
    assert {each["submission"] for each in rows(files, "scores.tsv")} == {"2"}
    assert files["outputs/2-canaryteam-canarysystem.txt"] == THEIRS
    of_all, of_nobody = (
        [each["version"] for each in json.loads(seen["campaign.json"])["terms"]]
        for seen in (exported(site, COMMAND_LINE), files)
    )
    assert (of_all, of_nobody) == ([1, 2], [2]), "others get the terms that hold"
    assert not [name for name in files if "refs" in name]
    with writing(site.engine) as connection:
        connection.execute(update(CampaignTestSet).values(references_released_at=now()))
    assert exported(site, NOBODY)["test-sets/1-news-1/refs/0-A.txt"] == REFERENCE


def test_it_comes_as_a_file_by_the_api(site: Service) -> None:
    answer = site.client().get("/api/v1/campaigns/wmt/export")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="wmt.zip"'
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert "campaign.json" in archive.namelist()


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (("../../etc", "passwd"), "etc-passwd"),
        (("..", "/"), "-"),
        (("C:\\x", "a\0b", "CON"), "C_x-a_b-CON"),
        (("Ústav", ""), "stav"),
        ((), "unnamed"),
    ],
)
def test_names_of_files_lead_nowhere(parts: tuple[str, ...], name: str) -> None:
    made = safe_name(*parts)
    assert made == name
    assert not set(made) & set("./\\:\0")


def test_a_sweep_of_a_parameter_is_not_exported(site: Service) -> None:
    """`tune` measures a metric with many values of a parameter: that is not how the campaign measures."""
    before = list(rows(exported(site, COMMAND_LINE), "scores.tsv"))
    ingest_campaign(
        site.engine,
        site.settings,
        campaign="wmt",
        test_set=NewTestSet("news", {"A": REFERENCE.rstrip()}, SOURCE.rstrip(), **LANGUAGES),
        submissions=[NewSubmission("mast", OURS.rstrip(), "harbour")],
        protocols=[NewProtocol(["A"], [parse_metric(f"chrf:beta={beta}") for beta in (1, 3)], 0, sweep=True)],
    )
    work_off(site.settings)
    with reading(site.engine) as connection:
        assert connection.scalar(select(func.count()).select_from(Score)) == len(before) + 2
    assert list(rows(exported(site, COMMAND_LINE), "scores.tsv")) == before


def test_references_come_with_the_test_set_they_were_released_for(site: Service) -> None:
    """Two test sets, each with texts of its own, of which one was released and the other has not begun."""
    campaign = site.campaign("wmt")
    coming = site.phase(campaign, "later", PhaseKind.OPEN, begins=5 * DAY)
    documents = NamedContent("docs.tsv", b"segment\tdoc_id\n0\tx\n1\ty\n2\ty\n")
    other = given(b"hrad\nzub\nles\n", b"the castle\nthe tooth\nthe wood\n", documents=documents)
    second = with_test_set(site.engine, "wmt", other, name="talks")
    with writing(site.engine) as connection:
        ours = CampaignTestSet.test_set_id == second
        connection.execute(update(CampaignTestSet).where(ours).values(phase_id=coming))
        connection.execute(update(CampaignTestSet).where(~ours).values(references_released_at=now()))
    files = exported(site, member(2))
    texts = {name: content for name, content in files.items() if name.startswith("test-sets/")}
    assert set(texts) == {f"test-sets/1-news-1/{name}" for name in ("source.txt", "refs/0-A.txt", "docs.tsv")}
    assert (texts["test-sets/1-news-1/source.txt"], texts["test-sets/1-news-1/refs/0-A.txt"]) == (SOURCE, REFERENCE)
    everything = exported(site, COMMAND_LINE)
    assert everything["test-sets/1-news-1/refs/0-A.txt"] == REFERENCE
    assert everything[f"test-sets/{second}-talks-1/refs/0-A.txt"] == b"hrad\nzub\nles\n"
    assert everything[f"test-sets/{second}-talks-1/source.txt"].startswith(b"the castle")
    assert [each["doc_id"] for each in rows(everything, f"test-sets/{second}-talks-1/docs.tsv")] == ["x", "y", "y"]
    assert [each["doc_id"] for each in rows(everything, "test-sets/1-news-1/docs.tsv")] == ["'=cmd()", "b", "b"]


def test_an_export_holds_one_campaign(site: Service) -> None:
    site.campaign("other")
    with_test_set(site.engine, "other", given(b"jina\nvec\ntady\n"))
    submit_output(site.engine, "other", "harbour", "mast", b"jina\nvec\nnekde\n")
    work_off(site.settings)
    files = exported(site, COMMAND_LINE)
    assert {each["submission"] for each in rows(files, "scores.tsv")} == {"1", "2"}
    assert [each["id"] for each in rows(files, "submissions.tsv")] == ["1", "2"]
    assert [each["id"] for each in rows(files, "test-sets.tsv")] == ["1"]
    assert {each["subject"].partition(" of campaign ")[2] for each in rows(files, "audit.tsv")} <= {"wmt", ""}
    assert "submission 3" not in {each["subject"] for each in rows(files, "audit.tsv")}
    assert not [name for name, content in files.items() if b"nekde" in content or b"tady" in content]


def test_descriptions_and_names_are_hidden_where_teams_are_anonymous(site: Service) -> None:
    """An open phase: all scores are seen, but nobody says who is who."""
    with writing(site.engine) as connection:
        connection.execute(update(Phase).values(kind=PhaseKind.OPEN))
    for principal, outputs, seen in (
        (NOBODY, 0, [("Team 1", ""), ("Team 2", "")]),
        (member(2), 1, [("harbour", "'@sum\nours"), ("Team 2", "")]),
        (COMMAND_LINE, 2, [("harbour", "'@sum\nours"), ("canaryteam", "canarywords")]),
    ):
        files = exported(site, principal)
        assert [(each["team"], each["description"]) for each in rows(files, "submissions.tsv")] == seen
        assert {each["submission"] for each in rows(files, "scores.tsv")} == {"1", "2"}
        assert len([name for name in files if name.startswith("outputs/")]) == outputs
    site.campaign("wmt", anonymous=False)
    named = list(rows(exported(site, NOBODY), "submissions.tsv"))
    # No page shows others what a team says of its submission.
    assert [(each["team"], each["description"]) for each in named][1] == ("canaryteam", "")
    assert [each["output"] for each in named] == ["", ""]


def test_each_cell_is_what_it_should_be(site: Service) -> None:
    """Also that of a system of the organisers, of which nobody has declared anything."""
    ingest_campaign(
        site.engine,
        site.settings,
        campaign="wmt",
        test_set=NewTestSet("news", {"A": REFERENCE.rstrip()}, SOURCE.rstrip(), **LANGUAGES),
        submissions=[NewSubmission("baseline", b"kocka\npes\nles", run="second")],
        protocols=[],
    )
    with writing(site.engine) as connection:
        values = {"kind": "primary", "constrained": True, "late_seconds": 2.5, "withdrawn_at": 7.5, "phase": "dev"}
        connection.execute(update(Declaration).where(Declaration.submission_id == 1).values(**values))
        connection.execute(update(Declaration).where(Declaration.submission_id == 2).values(constrained=False))
        connection.execute(update(Submission).values(created_at=5.25 + Submission.id))
    files = exported(site, COMMAND_LINE)
    first, second, third = (dict(row) for row in rows(files, "submissions.tsv"))
    assert first == {
        "id": "1",
        "test_set": "news",
        "team": "harbour",
        "system": "mast",
        "run": "",
        "kind": "primary",
        "constrained": "True",
        "description": "'@sum\nours",
        "phase": "dev",
        "late_seconds": "2.5",
        "created_at": "6.25",
        "withdrawn_at": "7.5",
        "output": "outputs/1-harbour-mast.txt",
    }
    assert (second["constrained"], second["withdrawn_at"], second["late_seconds"]) == ("False", "", "0.0")
    empty = dict.fromkeys(("team", "kind", "constrained", "description", "phase", "late_seconds", "withdrawn_at"), "")
    assert third.items() >= {**empty, "system": "baseline", "run": "second", "created_at": "8.25"}.items()
    assert files[third["output"]] == b"kocka\npes\nles\n"
    test_set, *_ = (dict(row) for row in rows(files, "test-sets.tsv"))
    assert test_set == {
        "id": "1",
        "name": "news",
        "version": "1",
        "segments": "3",
        "source_language": "en",
        "target_language": "cs",
        "references": "A",
        "phase": "",
        "released_at": "",
        "replaced_by": "",
        "folder": "test-sets/1-news-1",
        "variable_references": "",
    }
    scores = [dict(row) for row in rows(files, "scores.tsv")]
    with reading(site.engine) as connection:
        stored = connection.execute(
            select(Evaluation.submission_id, Score.specification, Score.score, Score.signature)
            .join(Evaluation, Evaluation.id == Score.evaluation_id)
            .order_by(Evaluation.submission_id, Score.metric)
        ).all()
    assert [(row["submission"], row["metric"], row["score"], row["signature"]) for row in scores] == [
        (str(row.submission_id), row.specification, str(row.score), row.signature) for row in stored
    ]
    assert {(row["references"], row["replicates"], row["seed"]) for row in scores} == {("A", "0", "12345")}
    segments = [dict(row) for row in rows(files, "test-sets/1-news-1/docs.tsv")]
    assert [(row["segment"], row["doc_id"]) for row in segments] == [("0", "'=cmd()"), ("1", "b"), ("2", "b")]
    teams = [dict(row) for row in rows(files, "teams.tsv")]
    assert [(row["name"], row["number"]) for row in teams] == [("canaryteam", "2"), ("harbour", "1")]
    members = [dict(row) for row in rows(files, "members.tsv")]
    assert members == [{"email": "olga@example.org", "name": "olga", "role": "organiser"}]
    described = json.loads(files["campaign.json"])
    assert (described["name"], described["anonymous"], described["frozen_at"]) == ("wmt", True, None)
    assert [(each["name"], each["kind"], each["feedback"]) for each in described["phases"]] == [
        ("test", "blind", "rounded")
    ]
    assert "id" not in described["phases"][0]


def test_letters_of_all_scripts_are_written_as_they_are(site: Service) -> None:
    with writing(site.engine) as connection:
        connection.execute(update(Campaign).values(title="Žluťoučký kůň"))
        connection.execute(update(AuditEntry).values(details={"why": "příliš"}))
    files = exported(site, COMMAND_LINE)
    assert "Žluťoučký kůň" in files["campaign.json"].decode()
    assert "příliš" in files["audit.tsv"].decode()


def test_large_texts_come_in_parts(site: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    parts, texts = [], []
    for part_bytes in (1, 1 << 30):
        monkeypatch.setattr("campaigns.exports.archive.PART_BYTES", part_bytes)
        parts.append(len(list(export_campaign(site.engine, COMMAND_LINE, "wmt"))))
        texts.append({name: text for name, text in exported(site, COMMAND_LINE).items() if name.endswith(".txt")})
    assert parts[0] > parts[1]
    assert texts[0] == texts[1]
