"""Whole campaigns from zips: exports come back as they were, folders of pairs with their scores, nothing in part."""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from campaigns.accounts.principal import COMMAND_LINE, EVERY_SCOPE, NOBODY, Principal
from campaigns.campaign_imports.pairs import _judgments
from campaigns.campaign_imports.reading import read_campaign_zip
from campaigns.campaign_imports.store import StoredCampaign, store_campaign_content
from campaigns.changes import lock_for_change
from campaigns.corrections.corrections import correct_test_set
from campaigns.errors import BadRequest, CampaignsError, Conflict, Forbidden
from campaigns.exports.campaign import export_campaign
from campaigns.exports.mt_metrics_eval import export_mt_metrics_eval
from campaigns.rules import Rules, set_rules
from campaigns.terms import set_terms
from campaigns.test_sets.stored import find_campaign_test_set
from models.database.session import reading, writing
from models.schema.accounts import Team
from models.schema.campaigns import Campaign, CampaignTestSet, Declaration
from models.schema.corpus import Submission, System, TestSet, Text
from models.schema.human import HumanSegmentScore, Judgments
from models.schema.roles import DeclaredKind, Feedback, Joining, LateRule, PhaseKind, SiteRole, Visibility
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.judgments import ingest_judgments
from scheduler.ingest.test_sets import NewTestSet
from steelyard.errors import BadText, MetricsError
from steelyard.formats.campaign.exports import MANIFEST
from steelyard.formats.campaign.folder import CampaignFolder
from steelyard.formats.plain import Text as PlainText
from steelyard.meta_evaluation.human.judgments import Judged, JudgedSpan, Judgment, SegmentScore, SystemScore
from steelyard.metrics.registry import parse_metric
from steelyard.text.limits import STORING_LIMITS
from tests.campaigns.exports.exported import rows
from tests.campaigns.score_imports.scores import take_in
from tests.scheduler.jobs import work_off
from tests.service.campaigns import submit_output
from tests.service.service import DAY, Service

TEXTS = (("sources", ""), ("references", ".refA"), ("system-outputs", "/mast"))
DOCUMENTS = [("one", "news", ""), ("one", "news", ""), ("two", "talk", "names")]
LANGUAGES = {"source_language": "en", "target_language": "cs"}


@pytest.fixture
def port(service: Service, tmp_path: Path) -> Service:
    """Two pairs, a correction, declarations, judgments with errors, imported scores, a phase, odd names."""
    mary = service.account("mary")
    campaign = service.campaign("port", teams=(service.team("harbour", mary),), title="Ports", description="=sum")
    metrics = [parse_metric(each) for each in ("chrf", "ter")]
    for name, source, references in (
        ("news", b"a cat\nruns\nhome", {"A": b"kocka\nbezi\ndomu", "B": b"cica\nutika\ndom"}),
        ("en-de", None, {"ref": b"die Katze\n\nheim"}),
    ):
        ingest_campaign(
            service.engine,
            service.settings,
            campaign="port",
            test_set=NewTestSet(
                name, references, source, **LANGUAGES, documents=DOCUMENTS, segment_ids=["1", "2", "x"],
                variable_references=name == "news",
            ),
            submissions=[NewSubmission("=lamp", b"kocka\nx\ndom"), NewSubmission("oar", b"pes\nbezi\ndomu", run="2")],
            protocols=[NewProtocol([*references], metrics, 20, seed=7)],
        )  # fmt: skip
    submit_output(
        service.engine, "port", "harbour", "mast", b"kocka\nbezi\ndum\n", description="@ours", test_set="news"
    )
    work_off(service.settings)
    with writing(service.engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "port")
        known = find_campaign_test_set(connection, access, "news")
        corrected = {"B": PlainText("B.txt", b"cica\nutika\ndomek", 3)}
        correct_test_set(connection, service.settings, access, known, corrected, "A slip\nof the pen")
        access = lock_for_change(connection, COMMAND_LINE, "port")
        newest = find_campaign_test_set(connection, access, "news@2").id
    work_off(service.settings)
    judgments = [Judgment("Zoe Secret", "mast", 0, 80.0, seconds=2.5), Judgment("Adam", "mast", 2, 60.0, wave=1)]
    spans = [
        JudgedSpan("Adam", "mast", 2, 0, 2, "minor", "Style", missing=False, in_source=False),
        JudgedSpan("Adam", "mast", 2, 1, 3, "major", "Omission", missing=False, in_source=True, wave=1),
        JudgedSpan("Adam", "mast", 0, 1, 1, "major", "Omission", missing=True, in_source=False),
    ]
    judged = Judged(
        "ratings", {"standardised": False}, [SystemScore("mast", 70.0, None, 2, 2)],
        [SegmentScore("mast", 0, 80.0), SegmentScore("mast", 2, 60.0, 60.0, 1)], judgments, spans=spans,
    )  # fmt: skip
    ingest_judgments(service.engine, access.campaign_id, newest, "esa", judged)
    folder = tmp_path / "scores" / "en-cs"
    folder.mkdir(parents=True)
    (folder / "XCOMET.seg.score").write_text("".join(f"harbour/mast {each}\n" for each in (0.1, "nan", 0.7)))
    take_in(service.engine, "port", folder / "XCOMET.seg.score", test_set="news@2")
    service.phase(campaign, "test", PhaseKind.OPEN, ends=DAY)
    with writing(service.engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "port")
        set_rules(connection, access, Rules(ranked_by="ter", human_rule="human", human_judgments="esa"))
    return service


def exported(service: Service, name: str, principal: Principal = COMMAND_LINE) -> bytes:
    return b"".join(export_campaign(service.engine, principal, name))


def taken_in(
    service: Service, content: bytes, place: Path, name: str = "copy", principal: Principal = COMMAND_LINE
) -> StoredCampaign:
    place = place / f"place-{len(list(place.iterdir()))}"
    place.mkdir()
    (place / "sent.zip").write_bytes(content)
    read = read_campaign_zip(place / "sent.zip", place, STORING_LIMITS)
    with writing(service.engine) as connection:
        found = store_campaign_content(connection, service.settings, principal, name, read)
    work_off(service.settings)
    return found


def files_of(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(files: dict[str, bytes], *, honest: bool = False) -> bytes:
    """A zip of files; `honest`, with a manifest that knows them."""
    files = dict(files)
    if honest:
        manifest = json.loads(files[MANIFEST])
        manifest["files"] = {name: sha256(each).hexdigest() for name, each in files.items() if name != MANIFEST}
        files[MANIFEST] = json.dumps(manifest).encode()
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, each in files.items():
            archive.writestr(name, each)
    return target.getvalue()


def counted(service: Service) -> list[int]:
    with reading(service.engine) as connection:
        return [
            connection.scalar(select(func.count()).select_from(each)) or 0
            for each in (Campaign, Submission, TestSet, Text)
        ]


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


def test_a_folder_of_pairs_with_metric_and_human_scores(port: Service, tmp_path: Path) -> None:
    content = b"".join(export_mt_metrics_eval(port.engine, COMMAND_LINE, "port", ["news@2"]))
    found = taken_in(port, content, tmp_path, "again")
    assert (found.test_sets, found.submissions) == (1, 3)
    assert found.judgments == 2, "scores, and the errors that were marked"
    assert found.imported >= 3
    again = files_of(b"".join(export_mt_metrics_eval(port.engine, COMMAND_LINE, "again")))
    before = files_of(content)
    for name, each in before.items():
        if name.endswith((".txt", ".docs")) or (name.startswith("human-scores") and name.endswith("seg.score")):
            assert again[name] == each, name
        if name.startswith("metric-scores") and name.endswith(".seg.score"):
            assert _scores(again[name]) == _scores(each), name


def test_judgments_and_scores_of_a_pair_are_the_finest_there_are(tmp_path: Path) -> None:
    folder = tmp_path / "human-scores"
    folder.mkdir()
    for name in ("esa.sys", "mqm.sys", "mqm.seg"):
        score = "mast\t1\nmast\t2\n" if name.endswith("seg") else "mast\t1.5\n"
        (folder / f"en-cs.{name}.score").write_text(score)
    (folder / "en-de.esa.seg.score").write_text("mast\t1\nmast\t2\n")
    text = PlainText("t", b"a\nb", 2)
    pair = CampaignFolder(
        "en-cs", text, {"A": text}, {}, None, "en", "cs", human=(), notices=(), variable_references=False
    )
    found, notices = _judgments(folder, pair)
    assert {name: len(each.segments) for name, each in found.items()} == {"mqm": 2}
    assert notices == ["human-scores: not used, for there are no scores of segments: en-cs.esa.sys.score."]
    assert _judgments(tmp_path / "none", pair) == ({}, [])


def test_exports_of_annotation_tools_beside_the_texts_are_judgments(port: Service, tmp_path: Path) -> None:
    def rated(score: int, number: int, user: str = "u1") -> str:
        error = '"[{""start_i"":0,""end_i"":1,""severity"":""minor""}]"'
        return f"{user},mast,{number},TGT,eng,ces,{score},d,False,{error},1.5,9.25"

    files = {
        **{f"{place}/en-{pair}{name}.txt": b"a b\nc d\n" for pair in ("cs", "de") for place, name in TEXTS},
        "documents/en-cs.docs": b"news\td\nnews\td\n",
        "human/en-cs.wave2.csv": "\n".join([rated(40, 1), rated(70, 2), rated(60, 2, "u2")]).encode(),
        "human/en-cs.wave2.tsv": b"segment\tsystem\tannotator\tscore\n0\tmast\tu1\t1\n",
        "human/en-de.da.tsv": b"segment\tsystem\tannotator\tscore\n0\tmast\tu1\t3\n1\tmast\tu1\t5\n",
        "human/notes.md": b"of us",
        "metadata/en-cs.jsonl": b"{}\n",
    }
    found = taken_in(port, zipped(files), tmp_path, "again")
    assert (found.test_sets, found.judgments) == (2, 2)
    told = "\n".join(found.notices)
    assert "human: not used, for another file has the same name: en-cs.wave2.tsv." in told
    assert "metadata (what is known of segments)" in told
    assert "human (" not in told
    assert str(tmp_path) not in told
    with reading(port.engine) as connection:
        stored = connection.execute(select(Judgments.name, Judgments.id).where(Judgments.name != "esa")).all()
        names = {row.id: row.name for row in stored}
        scores = select(HumanSegmentScore.judgments_id, HumanSegmentScore.segment, HumanSegmentScore.score)
        scores = scores.where(HumanSegmentScore.judgments_id.in_(names))
        kept = sorted((names[row.judgments_id], row.segment, row.score) for row in connection.execute(scores))
    assert [each[:2] for each in kept] == [("da", 0), ("da", 1), ("wave2", 0), ("wave2", 1)]
    assert [score for *_, score in kept[2:]] == [40.0, 65.0], "the export, as it is, and not the table"


def test_damaged_judgments_beside_the_texts_are_refused_by_name(port: Service, tmp_path: Path) -> None:
    files = {
        **{f"{place}/en-cs{name}.txt": b"a b\nc d\n" for place, name in TEXTS},
        "human/en-cs.esa.tsv": b"segment\tsystem\tannotator\tscore\n7\tmast\tu1\tx\n",
    }
    with pytest.raises(BadText, match=r"human/en-cs\.esa\.tsv, line 2"):
        taken_in(port, zipped(files), tmp_path, "again")


def _scores(content: bytes) -> dict[str, list[str]]:
    """System -> its scores, with the digits that imported scores keep."""
    found: dict[str, list[str]] = {}
    for line in content.decode().splitlines():
        system, score = line.split()
        found.setdefault(system, []).append(f"{float(score):.5f}")
    return found


def wmt25() -> dict[str, bytes]:
    """Two pairs of WMT25 as it publishes them, with scores of metrics."""
    documents = [
        ("en-cs_CZ", "news", "a.1", 2),
        ("en-cs_CZ", "speech", "vid_b", 1),
        ("en-de_DE", "news", "a.1", 2),
    ]
    files = {"data/wmt25-genmt.jsonl": "", "data/readme.jsonl.txt": "x\n"}
    for pair, domain, name, count in documents:
        paragraphs = "\n\n".join(f"{name} {number}" for number in range(count))
        document = f"{pair}_#_{domain}_#_{name}"
        files["data/wmt25-genmt.jsonl"] += (
            json.dumps(
                {
                    "doc_id": document,
                    "collection_id": "general",
                    "domain": domain,
                    "src_text": paragraphs,
                    "refs": {"refA": {"ref": paragraphs}},
                }
            )
            + "\n"
        )
        for system in ("Yolu", "GPT-4.1"):
            given = {"doc_id": document, "hypothesis": paragraphs, "paragraphs_match": True}
            scores = {"CometKiwi-XL": [0.5 + number for number in range(count)], "MetricX-24": [None] * count}
            scored = {
                "language_pair": pair,
                "domain": domain,
                "document_id": name.removeprefix("vid_"),
                "metric_scores": scores if system == "Yolu" or domain == "news" else {},
            }
            for folder, row in (("systems", given), ("automatic_scores", scored)):
                path = f"data/{folder}/{system}.jsonl"
                files[path] = files.get(path, "") + json.dumps(row) + "\n"
    return {name: content.encode() for name, content in files.items()}


def test_automatic_scores_beside_the_texts_are_imported(service: Service, tmp_path: Path) -> None:
    found = taken_in(service, zipped(wmt25()), tmp_path)
    assert (found.test_sets, found.submissions) == (2, 4)
    assert not any("automatic_scores" in each for each in found.notices)
    files = files_of(b"".join(export_mt_metrics_eval(service.engine, COMMAND_LINE, "copy")))
    scores = {name: content.decode().split() for name, content in files.items() if "CometKiwi" in name}
    assert scores["metric-scores/en-cs_CZ/CometKiwi-XL-src.seg.score"] == (
        ["GPT-4.1", "0.5", "GPT-4.1", "1.5", "GPT-4.1", "nan", "Yolu", "0.5", "Yolu", "1.5", "Yolu", "0.5"]
    ), "what is missing is not 0"
    assert scores["metric-scores/en-de_DE/CometKiwi-XL-src.seg.score"][:4] == ["GPT-4.1", "0.5", "GPT-4.1", "1.5"]
    damaged = wmt25()
    damaged["data/automatic_scores/Yolu.jsonl"] += b'{"language_pair": "en-cs_CZ"'
    before = counted(service)
    with pytest.raises(BadRequest, match=r"automatic_scores/Yolu\.jsonl, line 4"):
        taken_in(service, zipped(damaged), tmp_path, "other")
    assert counted(service) == before
