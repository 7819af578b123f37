"""Each file of an export, of a campaign that has two or more of everything."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest
from sqlalchemy import event, update

from campaigns.accounts.principal import COMMAND_LINE, EVERY_SCOPE, NOBODY, Principal
from campaigns.changes import lock_for_change
from campaigns.corrections.corrections import correct_test_set
from campaigns.permissions import read_access
from campaigns.test_sets.files import NamedContent
from campaigns.test_sets.stored import find_campaign_test_set
from models.database.session import writing
from models.schema.accounts import AuditEntry, Team
from models.schema.campaigns import CampaignTestSet, Correction, Phase
from models.schema.roles import Feedback, LateRule, PhaseKind, SiteRole
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.formats.plain import Text
from steelyard.metrics.registry import parse_metric
from tests.campaigns.exports.exported import LANGUAGES, OURS, exported, rows
from tests.scheduler.jobs import work_off
from tests.service.campaigns import REFERENCE, SOURCE, given, submit_output, with_test_set
from tests.service.service import DAY, Service


@pytest.fixture
def wide(service: Service) -> Service:
    """A campaign with two or more of everything: one test set has no source, the other was corrected."""
    olga, vera, mary, eve = (service.account(name) for name in ("olga", "vera", "mary", "eve"))
    teams = service.team("harbour", mary), service.team("guests", eve)
    rules = {"title": "Port", "description": "Of ships", "time_zone": "Europe/Prague", "ranked_by": "chrf"}
    campaign = service.campaign("wmt", organisers=(vera, olga), teams=teams, **rules, verified_only=True)
    documents = b"segment\tdoc_id\tdomain\ttest_suite\n0\tz\tnews\t\n1\ta\ttalk\tnames\n2\ta\ttalk\tnames\n"
    references = [NamedContent("A.txt", REFERENCE), NamedContent("Z.txt", b"kote\npsisko\nbarak\n")]
    news = given(documents=NamedContent("docs.tsv", documents), references=references)
    with_test_set(service.engine, "wmt", news, metrics=("ter", "bleu"))
    submit_output(service.engine, "wmt", "harbour", "mast", OURS)
    ingest_campaign(
        service.engine,
        service.settings,
        campaign="wmt",
        test_set=NewTestSet("talks", {"Z": b"x\ny", "A": b"z\ny"}, None, **LANGUAGES),
        submissions=[NewSubmission("mast", b"x\ny", "harbour"), NewSubmission("lamp", b"z\nx", "guests")],
        protocols=[NewProtocol(list(labels), [parse_metric("chrf")], 10, seed=7) for labels in ("A", "Z", "ZA")],
    )
    with writing(service.engine) as connection:
        access = lock_for_change(
            connection, Principal(vera, "vera@example.org", role=SiteRole.PARTICIPANT, scopes=EVERY_SCOPE), "wmt"
        )
        for reason, chata in (("A house\nis no barn", "chata"), ("=b", "dum")):
            corrected = {"Z": Text("Z.txt", f"kote\npsisko\n{chata}".encode(), 3)}
            correct_test_set(
                connection,
                *(service.settings, access, find_campaign_test_set(connection, access, "news"), corrected, reason),
            )
            access = read_access(connection, access.principal, "wmt")
    late = {"late": LateRule.FLAG, "grace_seconds": 60.0, "feedback": Feedback.ROUNDED, "feedback_step": 0.5}
    test = service.phase(campaign, "test", PhaseKind.BLIND, **late)
    service.phase(campaign, "out", PhaseKind.PUBLISHED, begins=DAY)
    with writing(service.engine) as connection:
        moments = {"starts_at": 1606690800.0, "ends_at": 1606759200.5}
        connection.execute(update(Phase).where(Phase.id == test).values(**moments))
        connection.execute(update(Phase).where(Phase.id != test).values(starts_at=1606759201.0))
        of_talks = update(CampaignTestSet).where(CampaignTestSet.test_set_id == 2)
        connection.execute(of_talks.values(position=5, phase_id=test, references_released_at=17.5))
        connection.execute(update(Correction).values(made_at=20.5 + Correction.id))
        connection.execute(update(AuditEntry).values(at=30.25 + AuditEntry.id))
        connection.execute(update(Team).where(Team.name == "guests").values(publication_name="=Guests"))
    work_off(service.settings)
    return service


def test_each_file_is_what_it_should_be(wide: Service) -> None:
    files = exported(wide, COMMAND_LINE)
    described = json.loads(files.pop("campaign.json"))
    assert described.pop("exported_at").endswith(("+01:00", "+02:00"))
    phase = {"late": "refuse", "grace_seconds": 0.0, "feedback": "full", "feedback_step": 1.0}
    late = {"late": "flag", "grace_seconds": 60.0, "feedback": "rounded", "feedback_step": 0.5}
    assert described == {
        "name": "wmt",
        "title": "Port",
        "description": "Of ships",
        "time_zone": "Europe/Prague",
        "visibility": "public",
        "joining": "invited",
        "anonymous": False,
        "verified_only": True,
        "ranked_by": "chrf",
        "human_rule": "",
        "human_judgments": "",
        "embeddable": False,
        "terms": [],
        "frozen_at": None,
        "phases": [
            {
                "name": "test",
                "kind": "blind",
                **late,
                "starts_at": 1606690800.0,
                "ends_at": 1606759200.5,
                "starts": "2020-11-30T00:00:00+01:00",
                "ends": "2020-11-30T19:00:00+01:00",
            },
            {
                "name": "out",
                "kind": "published",
                **phase,
                "starts_at": 1606759201.0,
                "ends_at": None,
                "starts": "2020-11-30T19:00:01+01:00",
                "ends": None,
            },
        ],
    }
    first, second, third = (f"test-sets/{name}" for name in ("1-news-1", "3-news-2", "4-news-3"))
    talks = "test-sets/2-talks-1"
    texts = {name: files.pop(name) for name in list(files) if name.endswith(".txt")}
    assert texts == {
        **{f"{folder}/source.txt": SOURCE for folder in (first, second, third)},
        **{f"{folder}/refs/0-A.txt": REFERENCE for folder in (first, second, third)},
        f"{first}/refs/1-Z.txt": b"kote\npsisko\nbarak\n",
        f"{second}/refs/1-Z.txt": b"kote\npsisko\nchata\n",
        f"{third}/refs/1-Z.txt": b"kote\npsisko\ndum\n",
        f"{talks}/refs/0-Z.txt": b"x\ny\n",
        f"{talks}/refs/1-A.txt": b"z\ny\n",
        "outputs/2-harbour-mast.txt": b"x\ny\n",
        "outputs/3-Guests-lamp.txt": b"z\nx\n",
        **{f"outputs/{number}-harbour-mast.txt": OURS for number in (1, 4, 5)},
    }
    manifest = json.loads(files.pop("manifest.json"))
    assert manifest["export"] == 2
    assert manifest["files"]["scores.tsv"] == sha256(files["scores.tsv"]).hexdigest()
    assert {*manifest["files"]} == {"campaign.json", *texts, *files}
    tables = {name: [tuple(row.values()) for row in rows(files, name)] for name in files}
    assert set(tables) == {
        *(f"{folder}/docs.tsv" for folder in (first, second, third)),
        *(f"{name}.tsv" for name in ("test-sets", "submissions", "scores", "corrections", "systems")),
        *(f"{name}.tsv" for name in ("teams", "members", "audit", "protocols", "judgments", "imported")),
    }
    for folder in (first, second, third):
        assert tables[f"{folder}/docs.tsv"] == [
            *(("0", "z", "news", ""), ("1", "a", "talk", "names"), ("2", "a", "talk", "names")),
        ]
    assert tables["test-sets.tsv"] == [
        ("4", "news", "3", "3", "en", "cs", "A,Z", "", "", "", third, ""),
        ("2", "talks", "1", "2", "en", "cs", "Z,A", "test", "17.5", "", talks, ""),
        ("1", "news", "1", "3", "en", "cs", "A,Z", "", "", "3", first, ""),
        ("3", "news", "2", "3", "en", "cs", "A,Z", "", "", "4", second, ""),
    ]
    assert tables["judgments.tsv"] == tables["imported.tsv"] == []
    assert [row[0] for row in tables["protocols.tsv"]] == ["news"] * 3 + ["talks"] * 3 + ["news@2"] * 3 + ["news@3"] * 3
    assert tables["protocols.tsv"][3][1:] == ('["A"]', tables["protocols.tsv"][3][2], "10", "7", "segment")
    submissions = [(row["id"], row["test_set"], row["team"], row["system"]) for row in rows(files, "submissions.tsv")]
    assert submissions == [
        *(("1", "news", "harbour", "mast"), ("2", "talks", "harbour", "mast"), ("3", "talks", "'=Guests", "lamp")),
        *(("4", "news@2", "harbour", "mast"), ("5", "news@3", "harbour", "mast")),
    ]
    scores = [tuple(row.values())[:3] + tuple(row.values())[4:6] for row in rows(files, "scores.tsv")]
    news = [(labels, metric, "0", "12345") for labels in ("A", "Z", "A,Z") for metric in ("ter", "bleu")]
    others = [(labels, "chrf", "10", "7") for labels in ("A", "Z", "Z,A")]
    assert scores == [
        (number, *row)
        for number, those in zip("12345", (news, others, others, news, news), strict=True)
        for row in those
    ]
    assert tables["corrections.tsv"] == [
        ("2", "news", "2", "3", "22.5", "'=b"),
        ("1", "news", "1", "2", "21.5", "A house\nis no barn"),
    ]
    assert sorted(tables["teams.tsv"]) == [("guests", "'=Guests", "2"), ("harbour", "", "1")]
    assert tables["members.tsv"] == [(f"{name}@example.org", name, "organiser") for name in ("olga", "vera")]
    add, measures, submit, correct_it, again = tables["audit.tsv"]
    news, nobody = "test set news@{} of campaign wmt", ("command line", "")
    assert add[:-1] == ("31.25", *nobody, "test_set.add", news.format(1))
    assert measures[:-1] == ("32.25", *nobody, "measures.add", "test set 1 of campaign wmt")
    assert submit[:-1] == ("33.25", *nobody, "submission.submit", "submission 1")
    assert correct_it[:-1] == ("34.25", "vera@example.org", "vera", "test_set.correct", news.format(1))
    assert again[:-1] == ("35.25", "vera@example.org", "vera", "test_set.correct", news.format(2))
    assert json.loads(again[-1]) == {
        "corrected": ["Z"],
        "new_test_set": 4,
        "submissions": 1,
        "reason": "=b",
        "judgments": 0,
    }


def test_others_get_the_references_that_were_released_alone(wide: Service) -> None:
    """Those of a test set that was corrected are not released by that."""
    files = exported(wide, NOBODY)
    assert [name for name in files if "/refs/" in name] == [
        f"test-sets/2-talks-1/refs/{name}.txt" for name in ("0-Z", "1-A")
    ]
    assert len([name for name in files if name.endswith("source.txt")]) == 3


def test_rows_are_in_their_order_whatever_that_of_the_database_is(wide: Service) -> None:
    if wide.engine.dialect.name != "sqlite":
        pytest.skip("only SQLite can be made to give rows in reverse")
    before = exported(wide, COMMAND_LINE)
    # Where no order is said, SQLite gives rows in reverse before (`rows_backwards`), and no longer now.
    event.listen(wide.engine, "connect", lambda raw, _: raw.execute("PRAGMA reverse_unordered_selects = OFF"))
    wide.engine.dispose()
    after = exported(wide, COMMAND_LINE)
    for files in (before, after):
        # It says when.
        del files["campaign.json"], files["manifest.json"]
    assert list(after.items()) == list(before.items())
