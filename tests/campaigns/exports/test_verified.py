"""An exported campaign is verified from its zip alone: `steelyard verify EXPORT.zip`."""

from __future__ import annotations

import json
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from campaigns.accounts.principal import COMMAND_LINE, NOBODY
from campaigns.changes import lock_for_change
from campaigns.corrections.corrections import correct_test_set
from campaigns.exports.campaign import export_campaign
from campaigns.test_sets.stored import find_campaign_test_set
from models.database.session import writing
from models.schema.states import ResamplingUnit
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.commands.main import main
from steelyard.commands.verification.export import _verdict
from steelyard.formats.campaign.exports import MANIFEST
from steelyard.formats.plain import Text
from steelyard.metrics.registry import parse_metric
from tests.campaigns.exports.exported import LANGUAGES
from tests.scheduler.jobs import work_off
from tests.service.service import Service

TEAMS = ("harbour", "guests")


@pytest.fixture
def zipped(service: Service, tmp_path: Path) -> Path:
    """Two test sets, one of them corrected, with two teams, several systems and metrics."""
    service.campaign("wmt", teams=tuple(service.team(name, service.account(name)) for name in TEAMS))
    metrics = [parse_metric(each) for each in ("bleu", "chrf:nw=2", "ter", "per")]
    for name, references in (
        ("news", {"A": b"the red cat\nruns\nhome now", "B": b"a red cat\nran\nhome"}),
        ("talks", {"Z": b"x y\nz"}),
    ):
        lines = len(next(iter(references.values())).splitlines())
        ingest_campaign(
            service.engine,
            service.settings,
            campaign="wmt",
            test_set=NewTestSet(name, references, None, **LANGUAGES),
            submissions=[
                NewSubmission(system, b"\n".join([text] * lines), team)
                for team in TEAMS
                for system, text in (("mast", b"the red cat"), ("=lamp", b"a dog ran home now"))
            ],
            protocols=[NewProtocol([*references][:count], metrics, 10) for count in range(1, len(references) + 1)],
        )
    with writing(service.engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        corrected = {"Z": Text("Z.txt", b"x x\nz", 2)}
        correct_test_set(
            connection, service.settings, access, find_campaign_test_set(connection, access, "talks"), corrected, "typo"
        )
    work_off(service.settings)
    path = tmp_path / "wmt.zip"
    path.write_bytes(b"".join(export_campaign(service.engine, COMMAND_LINE, "wmt")))
    return path


def verified(capsys, path: Path, status: int = 0):
    assert main(["verify", str(path), "-f", "json"]) == status
    return json.loads(capsys.readouterr().out)


def changed(path: Path, name: str, old: bytes, new: bytes, *, told: bool = True) -> Path:
    """The zip with another content of one file, in which `old` must be; its manifest is told, too."""
    other = path.with_name("changed.zip")
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(other, "w") as written:
        assert name in archive.namelist()
        for each in archive.namelist():
            content = archive.read(each)
            assert each != name or old in content
            if each == MANIFEST and told:
                before, after = (sha256(one).hexdigest() for one in _before_and_after(archive, name, old, new))
                assert before in content.decode()
                content = content.replace(before.encode(), after.encode())
            written.writestr(each, content.replace(old, new) if each == name else content)
    return other


def _before_and_after(archive: zipfile.ZipFile, name: str, old: bytes, new: bytes) -> tuple[bytes, bytes]:
    content = archive.read(name)
    return content, content.replace(old, new)


def test_every_score_is_equal_to_the_bit(zipped, capsys):
    found = verified(capsys, zipped)
    # Two protocols of news, and one of each version of talks; four submissions, four metrics.
    assert len(found["scores"]) == 4 * 4 * 4
    assert {each["verdict"] for each in found["scores"]} <= {"equal to the bit", "both undefined"}
    assert found["verified"]
    assert found["problems"] == found["notes"] == []
    assert not any(each["differences"] for each in found["scores"])


def test_what_was_changed_is_named(zipped, capsys):
    text = verified(capsys, changed(zipped, "outputs/4-harbour-mast.txt", b"red", b"green"), status=1)
    wrong = {each["system"] for each in text["scores"] if not each["equal"]}
    assert wrong == {"harbour/mast (4)"}
    reference = verified(capsys, changed(zipped, "test-sets/1-news-1/refs/1-B.txt", b"ran", b"walked"), status=1)
    assert {each["metric"].partition(", ")[2] for each in reference["scores"] if not each["equal"]} == {"A,B"}
    assert main(["verify", str(changed(zipped, "scores.tsv", b"edition\n", b"e\n")), "-f", "json"]) == 1
    assert "scores.tsv has no column edition." in capsys.readouterr().err


def test_a_change_that_the_manifest_was_not_told_is_named_though_numbers_are_equal(zipped, capsys):
    found = verified(capsys, changed(zipped, "campaign.json", b"wmt", b"wat", told=False), status=1)
    assert found["problems"] == ["campaign.json was changed after the export."]
    assert all(each["equal"] for each in found["scores"])


def test_a_signature_of_an_earlier_release_that_counted_no_segments_is_the_same():
    metric = parse_metric("imported:metric=X")
    of_system = {"team": "", "system": "mast", "run": "", "id": "4"}
    row = {"score": "", "references": "A", "replicates": "0", "seed": "0"}
    plain = metric.signature(1)
    for earlier in (plain, f"{plain}|segments:0", f"{plain}|segments:1"):
        found = _verdict({**row, "signature": earlier}, of_system, metric, float("nan"))
        assert bool(found.differences) == earlier.endswith(":1"), earlier


def test_a_zip_without_a_manifest_is_refused_at_once(zipped, capsys, monkeypatch):
    """Its files may have been changed, which nothing in it would tell; `campaign import` takes none either."""
    bare = zipped.with_name("bare.zip")
    with zipfile.ZipFile(zipped) as archive, zipfile.ZipFile(bare, "w") as written:
        for each in archive.namelist():
            if each != MANIFEST:
                written.writestr(each, archive.read(each))
    monkeypatch.setattr("steelyard.commands.verification.export.rows_of", None)
    assert main(["verify", str(bare)]) == 1
    told = capsys.readouterr()
    assert "bare.zip is no exported campaign, or one of a release before manifests: it has no manifest.json" in told.err
    assert told.out == ""


def test_an_export_of_a_newer_release_is_refused(zipped, capsys):
    newer = changed(zipped, MANIFEST, b'"export": 2', b'"export": 3', told=False)
    assert main(["verify", str(newer)]) == 1
    assert "install a newer one" in capsys.readouterr().err


def test_what_is_missing_is_named(zipped, capsys):
    output = verified(capsys, changed(zipped, "submissions.tsv", b"outputs/4-harbour-mast.txt", b""), status=1)
    assert output["problems"] == ["The export has no output of submission 4."] * 2
    assert all(each["equal"] for each in output["scores"])
    label = verified(capsys, changed(zipped, "test-sets.tsv", b"A,B", b"A,C"), status=1)
    assert label["problems"] == ['The export has no reference "B" of news.']


def test_an_export_of_a_visitor_says_what_it_lacks(zipped, service, tmp_path, capsys):
    path = tmp_path / "visitor.zip"
    path.write_bytes(b"".join(export_campaign(service.engine, NOBODY, "wmt")))
    found = verified(capsys, path, status=1)
    assert not found["verified"]
    assert found["problems"]


TABLES = {"test-sets.tsv": b"\xff", "submissions.tsv": b"", "scores.tsv": b""}
HASHES = {name: sha256(text).hexdigest() for name, text in TABLES.items()}
NO_TEXT = {**TABLES, MANIFEST: json.dumps({"export": 2, "release": "0.1.0", "files": HASHES}).encode()}
OTHER_ZIPS = [
    ({"a.txt": b"x"}, "no exported campaign: it has no test-sets.tsv, submissions.tsv, scores.tsv"),
    (TABLES, "it has no manifest.json"),
    (NO_TEXT, "test-sets.tsv cannot be read"),
]


@pytest.mark.parametrize(("content", "says"), OTHER_ZIPS)
def test_other_zips(tmp_path, capsys, content, says):
    path = tmp_path / "other.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in content.items():
            archive.writestr(name, text)
    assert main(["verify", str(path)]) == 1
    assert says in capsys.readouterr().err


def test_a_damaged_zip(zipped, capsys):
    content = zipped.read_bytes()
    at = content.index(b"scores.tsv") + 20
    zipped.write_bytes(content[:at] + bytes(20) + content[at + 20 :])
    assert main(["verify", str(zipped)]) == 1
    assert "damaged" in capsys.readouterr().err


def test_scores_by_document_have_the_same_signature_here(service: Service, tmp_path: Path, capsys) -> None:
    service.campaign("wmt")
    documents = [("one", "", ""), ("one", "", ""), ("two", "", "")]
    metrics = [parse_metric(each) for each in ("bleu", "chrf")]
    ingest_campaign(
        service.engine,
        service.settings,
        campaign="wmt",
        test_set=NewTestSet("news", {"A": b"the red cat\nruns\nhome now"}, None, **LANGUAGES, documents=documents),
        submissions=[NewSubmission("mast", b"the red cat\nran\nhome now")],
        protocols=[NewProtocol(["A"], metrics, 10, resample=ResamplingUnit.DOCUMENT)],
    )
    work_off(service.settings)
    path = tmp_path / "wmt.zip"
    path.write_bytes(b"".join(export_campaign(service.engine, COMMAND_LINE, "wmt")))
    assert main(["verify", str(path), "-f", "json"]) == 0
    said = capsys.readouterr().out
    assert "the signature was" not in said
    main(["verify", str(changed(path, "scores.tsv", b"|resample:document|", b"|resample:word|")), "-f", "json"])
    assert "resample:word" in capsys.readouterr().out
