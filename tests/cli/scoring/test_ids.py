"""Files of rows with ids in every command, and as uploads: JSON Lines, and what else the registry has of that kind."""

import json

import pytest

from campaigns.sandbox.limits import UNLIMITED
from campaigns.submissions.reading import ExpectedOutput, read_uploaded_output
from campaigns.test_sets.files import InputTestSet, NamedContent, read_test_set_files
from models.corpus.test_sets import DocumentSegments, StoredTestSet
from steelyard.formats.plain import Text
from steelyard.formats.reader import Kind
from steelyard.formats.registry import READERS
from tests.cli.status import status_of

# From Python 3.12 on; the pool of the embedded worker is forked from a thread by design.
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

IDS = [("d1", "1"), ("d1", "2"), ("d2", "1"), ("d2", "2")]
DOCUMENTS = {"d1": DocumentSegments([0, 1], ["1", "2"]), "d2": DocumentSegments([2, 3], ["1", "2"])}
REFERENCE = ["the boat is in the harbour", "a b c d e", "five words are enough here", "see the sea"]
OUTPUT = ["the boat was in the harbour", "a b c e d", "five words were enough here", "see the lake"]
SOURCE = ["loď je v přístavu", "a b c d e", "pět slov tu stačí", "viz moře"]


def written(reader, texts, field, order=(0, 1, 2, 3)):
    """The bytes of a file in this format, its rows in this order."""
    rows = [{"doc_id": IDS[i][0], "segment_id": IDS[i][1], field: texts[i]} for i in order]
    if reader == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in rows).encode()
    return "".join("\t".join(line) + "\n" for line in [list(rows[0]), *(row.values() for row in rows)]).encode()


@pytest.fixture(params=[reader.name for reader in READERS if reader.kind is Kind.IDS])
def reader(request):
    return request.param


@pytest.fixture
def here(tmp_path, monkeypatch, reader):
    """Plain files and files with ids, the output with its rows turned round."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEELYARD_DATABASE_URL", "sqlite:///steelyard.db")
    monkeypatch.delenv("STEELYARD_BROKER_URL", raising=False)
    fields = {"src": "source", "ref": "reference", "out": "hypothesis"}
    for (name, field), texts in zip(fields.items(), (SOURCE, REFERENCE, OUTPUT), strict=True):
        (tmp_path / f"{name}.txt").write_text("".join(line + "\n" for line in texts))
        order = (2, 0, 3, 1) if name == "out" else (0, 1, 2, 3)
        (tmp_path / f"{name}.{reader}").write_bytes(written(reader, texts, field, order))
    return tmp_path


def scores(capsys, *arguments):
    assert status_of(["score", *arguments, "-m", "bleu", "ter", "-f", "json"]) == 0
    (system,) = json.loads(capsys.readouterr().out)["systems"]
    return system


def test_score_matches_by_ids(here, reader, capsys):
    assert scores(capsys, f"ref.{reader}", "-i", f"out.{reader}") == scores(capsys, "ref.txt", "-i", "out.txt")


def test_an_empty_reference_with_an_id_is_none_where_references_vary(here, reader, capsys):
    lacking = [*REFERENCE[:1], "", *REFERENCE[2:]]
    (here / "b.txt").write_text("".join(line + "\n" for line in lacking))
    (here / f"b.{reader}").write_bytes(written(reader, lacking, "reference"))
    for more, begin in (["--variable-references"], "nrefs:var|"), ([], "nrefs:2|"):
        marked, plain = (
            scores(capsys, f"ref.{each}", f"b.{each}", "-i", f"out.{each}", *more) for each in (reader, "txt")
        )
        assert marked == plain
        assert plain["scores"][0]["signature"].startswith(begin)


def test_score_reads_standard_input_and_files_without_the_ending(here, reader, capsys, monkeypatch):
    (here / "sys.out").write_bytes((here / f"out.{reader}").read_bytes())
    found = scores(capsys, f"ref.{reader}", "-i", "sys.out")
    assert found["scores"] == scores(capsys, "ref.txt", "-i", "out.txt")["scores"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ref.txt", "-i", "out.{}"], "is matched by position"),
        (["ref.{}", "-i", "short.{}"], "1 segment of reference 'ref' missing: '1'"),
        (["ref.{}", "-i", "out.{}", "copy/out.{}"], "are both called 'out'"),
        (["ref.{}", "--system", "A", "out.{}", "short.{}"], "runs are matched by position"),
    ],
)
def test_what_does_not_fit_is_said(here, reader, capsys, arguments, said):
    (here / f"short.{reader}").write_bytes(written(reader, OUTPUT, "hypothesis", (1, 2, 3)))
    (here / "copy").mkdir()
    (here / "copy" / f"out.{reader}").write_bytes((here / f"out.{reader}").read_bytes())
    assert status_of(["score", *(each.format(reader) for each in arguments)]) == 1
    assert said in capsys.readouterr().err


def test_a_reference_and_an_output_may_have_one_name(here, reader, capsys):
    for folder, name in (("refs", "ref"), ("outs", "out")):
        (here / folder).mkdir()
        (here / folder / f"a.{reader}").write_bytes((here / f"{name}.{reader}").read_bytes())
    found = scores(capsys, f"refs/a.{reader}", "-i", f"outs/a.{reader}")
    assert found["scores"] == scores(capsys, "ref.txt", "-i", "out.txt")["scores"]


def test_systems_stay_in_the_order_given(here, reader, capsys):
    for name in ("b", "a"):
        (here / f"{name}.{reader}").write_bytes((here / f"out.{reader}").read_bytes())
    assert status_of(["score", f"ref.{reader}", "-i", f"b.{reader}", f"a.{reader}", "-f", "json"]) == 0
    assert [each["system"] for each in json.loads(capsys.readouterr().out)["systems"]] == ["b", "a"]


def test_a_check_compares_by_ids(here, reader, capsys):
    beside = ("--source", "src.{0}", "--reference", "ref.{0}")
    found = []
    for ending in ("txt", reader):
        given = [each.format(ending) for each in ("out.{0}", *beside)]
        assert status_of(["check", *given, "-f", "json"]) in (0, 1)
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1]
    assert status_of(["check", f"out.{reader}", "--reference", "ref.txt"]) == 1
    assert "is matched by position" in capsys.readouterr().err


def test_a_campaign_is_evaluated_and_submitted_to(here, reader, capsys):
    (here / "port" / "refs").mkdir(parents=True)
    (here / "port" / "systems").mkdir()
    (here / f"ref.{reader}").rename(here / "port" / "refs" / f"A.{reader}")
    (here / f"out.{reader}").rename(here / "port" / "systems" / f"tug.{reader}")
    assert status_of(["evaluate", "port", "-m", "bleu", "--processes", "1", "--output", "report"]) == 0
    (here / f"new.{reader}").write_bytes(written(reader, REFERENCE, "hypothesis", (2, 3, 0, 1)))
    asked = ("--campaign", "port", "--team", "t", "--system", "new")
    assert status_of(["submit", f"new.{reader}", *asked, "--processes", "1"]) == 0
    assert "100.0" in capsys.readouterr().out
    (here / f"new.{reader}").write_bytes(written(reader, OUTPUT, "hypothesis", (0, 1)))
    assert status_of(["submit", f"new.{reader}", *asked, "--no-wait"]) == 1
    assert "lacks 1 document of the test set port: 'd2'" in capsys.readouterr().err


def test_uploads_are_read(here, reader, tmp_path):
    given = InputTestSet(
        references=[NamedContent(f"A.{reader}", (here / f"ref.{reader}").read_bytes())],
        source=NamedContent(f"source.{reader}", (here / f"src.{reader}").read_bytes()),
        source_language="cs",
        target_language="en",
    )
    folder = read_test_set_files(given, tmp_path / "place", UNLIMITED)
    assert folder.references["A"].lines() == [line.encode() for line in REFERENCE]
    assert [each.doc_id for each in folder.documents] == ["d1", "d1", "d2", "d2"]
    test_set = StoredTestSet(1, "news", "1", 4)
    expected = ExpectedOutput("tug", "en", test_set, DOCUMENTS, ())
    (tmp_path / "sent").write_bytes(written(reader, OUTPUT, "hypothesis", (2, 3, 0, 1)))
    text = read_uploaded_output(tmp_path / "sent", tmp_path, "sent", UNLIMITED, expected)
    assert isinstance(text, Text)
    assert text.lines() == [line.encode() for line in OUTPUT]
