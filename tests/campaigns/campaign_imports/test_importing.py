"""Whole campaigns from zips: exports come back as they were, and nothing is stored in part."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select, update

from campaigns.accounts.principal import COMMAND_LINE, EVERY_SCOPE, NOBODY, Principal
from campaigns.campaign_imports.reading import read_campaign_zip
from campaigns.changes import lock_for_change
from campaigns.errors import BadRequest, CampaignsError, Conflict, Forbidden
from campaigns.terms import set_terms
from campaigns.test_sets.stored import find_campaign_test_set
from models.database.session import reading, writing
from models.schema.accounts import Team
from models.schema.campaigns import Campaign, CampaignTestSet, Declaration, is_campaign_test_set
from models.schema.corpus import Submission, System, TextBlock
from models.schema.roles import DeclaredKind, Feedback, Joining, LateRule, PhaseKind, SiteRole, Visibility
from scheduler.ingest.judgments import ingest_judgments
from steelyard.errors import BadText, MetricsError
from steelyard.formats.campaign.exports import MANIFEST
from steelyard.meta_evaluation.human.judgments import Judged, Judgment, SegmentScore, SystemScore
from steelyard.text.limits import STORING_LIMITS
from tests.campaigns.campaign_imports.zips import counted, exported, files_of, taken_in, zipped
from tests.campaigns.exports.exported import rows
from tests.scheduler.jobs import work_off
from tests.service.campaigns import submit_output
from tests.service.service import DAY, Service


def made_odd(service: Service) -> None:
    """Let no column of the campaign, its phases, test sets and declarations have what it has by default."""
    campaign = service.campaign("port")
    submit_output(service.engine, "port", "harbour", "keel", b"kocka\nutika\ndum\n", test_set="news")
    work_off(service.settings)
    rules = {"visibility": Visibility.PRIVATE, "joining": Joining.OPEN, "anonymous": True, "verified_only": True}
    rules |= {"embeddable": True}
    first = service.phase(
        campaign, "dev", PhaseKind.BLIND, begins=-9 * DAY, ends=-8 * DAY, late=LateRule.FLAG, grace_seconds=1800.5,
        feedback=Feedback.LADDER, feedback_step=0.25,
    )  # fmt: skip
    declared = {"mast": ("contrastive", False, "dev", 12.5, None), "keel": ("primary", True, "test", 0.0, 1700000000.5)}
    with writing(service.engine) as connection:
        where = Campaign.id == campaign
        connection.execute(update(Campaign).where(where).values(**rules, time_zone="Europe/Prague"))
        for text in ("No *machine* reads this.", "Nobody\nelse either.", ""):
            set_terms(connection, lock_for_change(connection, COMMAND_LINE, "port"), text)
        test_sets = update(CampaignTestSet).where(CampaignTestSet.campaign_id == campaign)
        connection.execute(test_sets.where(CampaignTestSet.name == "en-de").values(phase_id=first))
        connection.execute(test_sets.where(CampaignTestSet.name == "news").values(references_released_at=1700000000.25))
        for number, (system, (kind, constrained, phase, late, withdrawn)) in enumerate(declared.items()):
            its = select(Submission.id).join(System).where(System.name == system)
            connection.execute(
                update(Submission).where(Submission.id.in_(its)).values(created_at=1600000000.5 + number)
            )
            values = {"kind": DeclaredKind(kind), "constrained": constrained, "phase": phase, "late_seconds": late}
            of_system = update(Declaration).where(Declaration.submission_id.in_(its))
            connection.execute(of_system.values(**values, withdrawn_at=withdrawn))


def test_an_export_comes_back_as_it_was(port: Service, tmp_path: Path) -> None:
    made_odd(port)
    before = exported(port, "port")
    found = taken_in(port, before, tmp_path)
    assert (found.test_sets, found.submissions, found.judgments, found.imported) == (3, 9, 1, 1)
    old, new = files_of(before), files_of(exported(port, "copy"))
    for name in ("scores.tsv", "submissions.tsv", "test-sets.tsv", "protocols.tsv", "corrections.tsv"):
        assert _without_numbers(new, name) == _without_numbers(old, name), name
    described = [json.loads(files["campaign.json"]) for files in (old, new)]
    for each in described:
        del each["name"], each["exported_at"]
        assert len(each["phases"]) == 2
        assert each["embeddable"] is True
        assert [terms["text"] for terms in each["terms"]] == ["No *machine* reads this.", "Nobody\nelse either.", ""]
    assert described[0] == described[1]
    judged = [
        {name.rpartition("/")[2]: each for name, each in files.items() if name.startswith("judgments/")}
        for files in (old, new)
    ]
    assert judged[0] == judged[1]
    assert b"Secret" not in b"".join(old.values())
    assert b"annotator 1" in judged[0]["ratings.tsv"]
    imported = [[*rows(files, "imported.tsv")] for files in (old, new)]
    for each in imported:
        del each[0]["file"]
    assert imported[0] == imported[1]
    for ending in (".txt", "docs.tsv"):
        texts = [sorted(each for name, each in files.items() if name.endswith(ending)) for files in (old, new)]
        assert texts[0] == texts[1]
    assert b"segment_id" in texts[0][0]


def test_judgments_of_many_annotators_come_back_byte_by_byte(port: Service, tmp_path: Path) -> None:
    """Who is numbered again keeps the number: as text, "annotator 10" comes before "annotator 2"."""
    with writing(port.engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "port")
        newest = find_campaign_test_set(connection, access, "news@2").id
    judgments = [Judgment(f"user {each}", "mast", each % 3, 50.0 + each, wave=each) for each in range(12)]
    scores = [SegmentScore("mast", each, 50.0) for each in range(3)]
    judged = Judged("ratings", {"standardised": False}, [SystemScore("mast", 50.0, None, 12, 3)], scores, judgments)
    ingest_judgments(port.engine, access.campaign_id, newest, "many", judged)
    first = exported(port, "port")
    taken_in(port, first, tmp_path)
    second = exported(port, "copy")
    taken_in(port, second, tmp_path, "again")
    tables = [
        sorted(each for name, each in files_of(content).items() if name.startswith("judgments/"))
        for content in (first, second, exported(port, "again"))
    ]
    assert any(b"annotator 12" in each for each in tables[0])
    assert tables[0] == tables[1] == tables[2]


def test_outputs_that_replaced_each_other_are_stored_in_their_order(port: Service, tmp_path: Path) -> None:
    """So that the last one stands, here as there; other systems came in between."""
    handed_in = [("mast", b"a"), ("keel", b"b"), ("mast", b"c"), ("keel", b"d"), ("keel", b"e"), ("mast", b"f")]
    for system, word in handed_in:
        submit_output(port.engine, "port", "harbour", system, word + b"\nbezi\ndum\n", test_set="news@2")
    work_off(port.settings)
    taken_in(port, exported(port, "port"), tmp_path)
    found: dict[str, list[tuple[str, bytes]]] = {}
    with reading(port.engine) as connection:
        rows = connection.execute(
            select(Campaign.name.label("campaign"), System.name, TextBlock.content)
            .join(Submission, Submission.campaign_id == Campaign.id)
            .join(System, System.id == Submission.system_id)
            .join(CampaignTestSet, is_campaign_test_set(Campaign.id, Submission.test_set_id))
            .join(TextBlock, TextBlock.text_id == Submission.text_id)
            .where(System.team == "harbour", CampaignTestSet.name == "news", CampaignTestSet.version == "2")
            .order_by(Submission.id)
        )
        for row in rows:
            found.setdefault(row.campaign, []).append((row.name, row.content))
    of_system = {
        campaign: {system: [content for name, content in of if name == system] for system in ("mast", "keel")}
        for campaign, of in found.items()
    }
    assert [len(each) for each in of_system["port"].values()] == [4, 3]
    assert of_system["copy"] == of_system["port"]


def test_teams_keep_the_names_by_which_they_submit(port: Service, tmp_path: Path) -> None:
    with writing(port.engine) as connection:
        connection.execute(update(Team).where(Team.name == "harbour").values(publication_name="Harbour of Brno"))
    before = exported(port, "port")
    assert b"\tHarbour of Brno\t" in files_of(before)["submissions.tsv"]
    taken_in(port, before, tmp_path)
    with reading(port.engine) as connection:
        copied = select(Submission.system_id).join(Campaign).where(Campaign.name == "copy")
        teams = set(connection.scalars(select(System.team).where(System.id.in_(copied))))
    assert teams == {"", "harbour"}


def test_an_export_of_a_release_before_terms_is_taken(port: Service, tmp_path: Path) -> None:
    files = files_of(exported(port, "port"))
    campaign = json.loads(files["campaign.json"])
    del campaign["terms"], campaign["embeddable"]
    files["campaign.json"] = json.dumps(campaign).encode()
    files[MANIFEST] = files[MANIFEST].replace(b'"export": 2', b'"export": 1')
    taken_in(port, zipped(files, honest=True), tmp_path)
    copied = json.loads(files_of(exported(port, "copy"))["campaign.json"])
    assert (copied["embeddable"], copied["terms"]) == (False, [])


@pytest.mark.parametrize(
    "terms",
    [
        [{"version": 1, "text": "a", "created_at": 1.0}] * 2,
        [{"version": 0, "text": "a", "created_at": 1.0}],
        [{"version": 1, "text": "a" * 50_001, "created_at": 1.0}],
        [{"version": 1, "text": "a"}],
        "terms",
    ],
)
def test_terms_that_are_wrong_are_refused(port: Service, tmp_path: Path, terms: object) -> None:
    files = files_of(exported(port, "port"))
    files["campaign.json"] = json.dumps({**json.loads(files["campaign.json"]), "terms": terms}).encode()
    before = counted(port)
    with pytest.raises(BadRequest):
        taken_in(port, zipped(files, honest=True), tmp_path)
    assert counted(port) == before


def _without_numbers(files: dict[str, bytes], name: str) -> list[list[str]]:
    """The rows, without the numbers that a database gives; what was withdrawn is not scored again."""
    numbers = ("id", "submission", "folder", "output", "replaced_by")
    withdrawn = {row["id"] for row in rows(files, "submissions.tsv") if row["withdrawn_at"]}
    kept = [row for row in rows(files, name) if row.get("submission") not in withdrawn]
    return sorted([value or "" for key, value in row.items() if key not in numbers] for row in kept)


def test_a_changed_export_is_refused_and_nothing_is_stored(port: Service, tmp_path: Path) -> None:
    files, before = files_of(exported(port, "port")), counted(port)
    output = next(name for name in files if name.startswith("outputs/"))
    for changed, says in (
        ({**files, output: files[output] + b"more\n"}, f"{output} was changed"),
        ({**files, "x.txt": b"x"}, "Not exported, but there: x.txt"),
        ({name: each for name, each in files.items() if name != output}, f"Missing: {output}"),
    ):
        with pytest.raises(BadRequest, match="not as it was exported") as refused:
            taken_in(port, zipped(changed), tmp_path)
        assert any(says in each for each in refused.value.details)
    assert counted(port) == before


@pytest.mark.parametrize(
    ("name", "old", "new", "says"),
    [
        (MANIFEST, b'"export": 2', b'"export": 3', "install a newer one"),
        ("protocols.tsv", b"chrf", b"nosuchmetric", "nosuchmetric"),
        ("protocols.tsv", b"en-de", b"en-xx", "en-xx"),
        ("submissions.tsv", b"\tmast\t\t", b"\tmast\t\tking", "king"),
        ("submissions.tsv", b"\ten-de\t", b"\tnowhere\t", "nowhere"),
        ("campaign.json", b'"visibility": "public"', b'"visibility": "odd"', "odd"),
        ("campaign.json", b'"title": "Ports"', b'"title": 7', "title"),
        ("campaign.json", b'"phases"', b'"faces"', "phases"),
        ("campaign.json", b'"kind": "open"', b'"kind": "ajar"', "ajar"),
        ("test-sets.tsv", b"\tA,B\t", b"\tA,B,C\t", "lacks references"),
        ("judgments.tsv", b"ratings", b"guesses", "guesses"),
        ("imported.tsv", b"imported:", b"chrf:", "imported"),
        ("corrections.tsv", b"\t1\t2\t", b"\t8\t2\t", "corrections.tsv: there is no test set .*@8"),
        ("corrections.tsv", b"\t1\t2\t", b"\t1\t9\t", "corrections.tsv: there is no test set .*@9"),
        ("judgments.tsv", b"\nnews@2\t", b"\nnowhere\t", "judgments.tsv: there is no test set"),
    ],
)
def test_an_export_that_does_not_fit_together_stores_nothing(
    port: Service, tmp_path: Path, name: str, old: bytes, new: bytes, says: str
) -> None:
    """Also where its manifest was made to fit."""
    files, before = files_of(exported(port, "port")), counted(port)
    assert old in files[name]
    changed = {**files, name: files[name].replace(old, new)}
    with pytest.raises((CampaignsError, MetricsError, BadText), match=says):
        taken_in(port, zipped(changed, honest=name != MANIFEST), tmp_path)
    assert counted(port) == before


def test_statistics_of_other_segments_store_nothing(port: Service, tmp_path: Path) -> None:
    files, before = files_of(exported(port, "port")), counted(port)
    name = next(each for each in files if each.startswith("imported/"))
    lines = files[name].splitlines(keepends=True)
    for changed in (
        lines[:-1],
        [*lines[:-1], lines[-1].replace(b" ", b" 1.0 ")],
        [re.sub(rb"\t0\.\S+", b"\tnan", line) for line in lines],
        [*lines[:-2], lines[-1], lines[-2]],
    ):
        with pytest.raises(BadRequest, match=r"XCOMET|a segment is missing or twice there"):
            taken_in(port, zipped({**files, name: b"".join(changed)}, honest=True), tmp_path)
    assert counted(port) == before


def test_a_text_that_is_missing_is_named(port: Service, tmp_path: Path) -> None:
    files = files_of(exported(port, "port"))
    gone = next(each for each in files if each.startswith("outputs/"))
    del files[gone]
    with pytest.raises(BadRequest, match=f"The zip lacks {re.escape(gone)}"):
        taken_in(port, zipped(files, honest=True), tmp_path)


def test_what_a_visitor_exported_is_no_campaign(port: Service, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="does not organise"):
        taken_in(port, exported(port, "port", NOBODY), tmp_path)


def test_names_and_rights(port: Service, tmp_path: Path) -> None:
    content = exported(port, "port")
    with pytest.raises(Conflict, match="similar"):
        taken_in(port, content, tmp_path, "port")
    member = Principal(1, "mary@example.org", role=SiteRole.PARTICIPANT, scopes=EVERY_SCOPE)
    with pytest.raises(Forbidden):
        taken_in(port, content, tmp_path, principal=member)
    answer = port.program(port.account("zoe")).post("/api/v1/campaigns/x/import", files={"file": ("x.zip", content)})
    assert answer.status_code == 403


def test_over_http(port: Service) -> None:
    content = exported(port, "port")
    olga = port.program(port.account("olga", SiteRole.ORGANISER))
    answer = olga.post("/api/v1/campaigns/copy/import", files={"file": ("x.zip", content)})
    assert answer.status_code == 201, answer.text
    assert answer.json()["submissions"] == 8
    for sent, says in ((b"no zip", "no zip"), (zipped({"a.txt": b"a"}), "no exported campaign")):
        answer = olga.post("/api/v1/campaigns/other/import", files={"file": ("x.zip", sent)})
        assert (answer.status_code, says in answer.text) == (422, True), answer.text


@pytest.mark.parametrize("name", ["../x.txt", "/etc/x.txt", "a/../../x.txt", "n" * 300 + ".txt"])
def test_names_that_lead_elsewhere(service: Service, tmp_path: Path, name: str) -> None:
    with pytest.raises(BadRequest, match="cannot be used"):
        taken_in(service, zipped({name: b"x"}), tmp_path)


def test_what_is_unpacked_has_limits(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(content: bytes, most: int) -> str:
        place = tmp_path / f"place-{len(list(tmp_path.iterdir()))}"
        place.mkdir()
        (place / "sent.zip").write_bytes(content)
        with pytest.raises(BadRequest) as refused:
            read_campaign_zip(place / "sent.zip", place, replace(STORING_LIMITS, file_bytes=most))
        return str(refused.value)

    two = zipped({"a.txt": b"a" * 60, "folder/b.txt": b"b" * 40})
    assert "no exported campaign" in read(two, 100)
    assert "more than 99 bytes unpacked" in read(two, 99)
    monkeypatch.setattr("steelyard.formats.campaign.zips.MAX_FILES", 1)
    assert "The zip has 2 files; 1 are the most." in read(two, 100)
    # What macOS adds is no file of the campaign.
    assert "no exported campaign" in read(zipped({"a.txt": b"a", "__MACOSX/a.txt": b"x" * 500, "b/": b""}), 1)


def test_an_export_has_the_limits_of_an_upload(port: Service, tmp_path: Path) -> None:
    content = exported(port, "port")
    (tmp_path / "sent.zip").write_bytes(content)
    size = sum(map(len, files_of(content).values()))
    limits = replace(STORING_LIMITS, file_bytes=size)
    assert read_campaign_zip(tmp_path / "sent.zip", tmp_path, limits).name == "port"
    with pytest.raises(BadRequest, match=f"more than {size - 1:,} bytes unpacked"):
        read_campaign_zip(tmp_path / "sent.zip", tmp_path, replace(limits, file_bytes=size - 1))
