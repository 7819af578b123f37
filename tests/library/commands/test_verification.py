"""What `steelyard verify` compares, piece by piece, and results and exports that are unusual."""

import json
import zipfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from steelyard.commands.main import main
from steelyard.commands.verification import export
from steelyard.commands.verification.result import _fields
from steelyard.commands.verification.verdicts import compared, different
from steelyard.formats.campaign import exports
from steelyard.metrics import registry
from steelyard.metrics.metric import EDITION, VERSION
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segment_metric import SegmentMetric
from steelyard.metrics.segments import Segments
from steelyard.text.limits import TextLimits

REFERENCE = ["The crane lifts a heavy load .", "Nobody saw the winch .", "It rained all day in the harbour ."]
OTHER = ["A crane lifts the heavy load .", "", "All day it rained in the harbour ."]
SYSTEMS = {
    "tug": ["The crane lifts a load .", "Nobody saw a winch .", "It rained all day at the harbour ."],
    "raft": ["The crane raises a heavy load .", "No one saw the winch .", "It rained in the harbour all day ."],
    "barge": ["A crane lift load .", "Nobody winch .", "It rain day harbour ."],
}


@pytest.mark.parametrize(
    ("published", "found", "equal"),
    [
        ("33.2", 33.24, True),
        ("33.2", 33.16, True),
        ("33.2", 33.26, False),
        ("33.2", 33.14, False),
        ("+33.2", 33.2, True),
        ("33", 33.4, True),
        ("33", 33.6, False),
        ("-0.25", -0.251, True),
        ("-0.25", 0.251, False),
        ("3.32e1", 33.2, True),
        ("3.32e1", 33.21, False),
        ("nan", float("nan"), True),
        ("n/a", None, True),
        (None, float("nan"), True),
        (None, 0.0, False),
        ("null", 5.0, False),
        ("0.0", None, False),
        ("5", float("nan"), False),
    ],
)
def test_equal_in_all_digits_that_were_written_is_equal(published, found, equal):
    assert compared(published, found)[0] is equal


@given(st.floats(-1e6, 1e6), st.integers(0, 6))
@example(0.5, 0)
def test_a_number_that_was_rounded_is_equal_and_the_next_ones_are_not(value, decimals):
    written = f"{value:.{decimals}f}"
    assert compared(written, value)[0]
    assert compared(repr(value), value) == (True, "equal to the bit")
    for step in (1.5, -1.5):
        assert not compared(written, float(written) + step * 10.0**-decimals)[0]


@pytest.mark.parametrize(
    ("published", "found", "says"),
    [
        ({"a": "1", "b": {"c": ["2", "3"]}}, {"a": 1, "b": {"c": [2.0, 3.0]}}, []),
        ({"a": "1"}, {"a": 1, "new": 5}, []),
        ({"a": "1", "old": "5"}, {"a": 1}, ["old is not computed by this version"]),
        ({"b": {"c": ["2"]}}, {"b": {"c": [2.75]}}, ["b.c[0] is 2, computed again 2.75"]),
        ({"b": ["2"]}, {"b": [2, 3]}, ["b has 1 entries, computed again 2"]),
        ({"b": ["2", "3"]}, {"b": [2]}, ["b has 2 entries, computed again 1"]),
        ({"a": "x"}, {"a": "y"}, ["a is 'x', computed again 'y'"]),
        ({"a": True}, {"a": False}, ["a is True, computed again False"]),
        ({"a": None}, {"a": 1.5}, ["a is None, computed again 1.5"]),
        ({"a": "1.5"}, {"a": None}, ["a is '1.5', computed again None"]),
        ({"a": ["1"]}, {"a": 1}, ["a is ['1'], computed again 1"]),
    ],
)
def test_all_that_differs_is_found_wherever_it_stands(published, found, says):
    assert [*different(published, found)] == says


def test_fields_of_signatures_differ_on_either_side():
    assert _fields("nrefs:1|case:lc|version:1", "nrefs:1|tok:13a|version:2") == [
        "case was lc, and is nothing here",
        "tok was nothing, and is 13a here",
    ]


@pytest.fixture
def texts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, lines in {"ref": REFERENCE, "other": OTHER, **SYSTEMS}.items():
        Path(f"{name}.txt").write_text("\n".join(lines) + "\n")


def verified(capsys, *words, status=0):
    assert main(["verify", *words, "-f", "json"]) == status
    return json.loads(capsys.readouterr().out)


def scored(capsys, *words):
    """Of `score`, into result.json."""
    assert main(["score", *words, "-f", "json"]) == 0
    found = capsys.readouterr().out
    Path("result.json").write_text(found)
    return json.loads(found)


def keep(document):
    Path("result.json").write_text(json.dumps(document))


OUTPUTS = ("tug.txt", "raft.txt", "barge.txt")


@pytest.mark.usefixtures("texts")
def test_a_reference_that_lacks_segments_lacks_them_again(capsys):
    words = ("ref.txt", "other.txt", "--variable-references", "-i", *OUTPUTS, "-m", "bleu", "ter")
    document = scored(capsys, *words)
    assert verified(capsys, "result.json", "ref.txt", "other.txt", *OUTPUTS)["verified"]
    for score in document["systems"][0]["scores"]:
        published = f"{score['title']}|{score['signature']} = {score['score']!r}"
        (found,) = verified(capsys, published, "ref.txt", "other.txt", "-i", "tug.txt")["scores"]
        assert found["verdict"] == "equal to the bit"


@pytest.mark.usefixtures("texts")
def test_numbers_of_runs_and_of_tests_are_compared_too(capsys):
    document = scored(capsys, "ref.txt", "--system", "Fleet", "tug.txt", "raft.txt", "-i", "barge.txt", "-m", "bleu")
    assert verified(capsys, "result.json", "ref.txt", *OUTPUTS)["verified"]
    document["systems"][0]["runs"][1]["scores"][0]["score"] += 1
    keep(document)
    found = verified(capsys, "result.json", "ref.txt", *OUTPUTS, status=1)
    assert found["problems"][0].startswith("Fleet: runs[1].scores[0].score is ")
    tests = ("-m", "bleu", "--paired", "bootstrap", "--confidence", "40", "--level", "0.8", "--seed", "9")
    document = scored(capsys, "ref.txt", "-i", *OUTPUTS, *tests, "--correction", "bh", "--baseline", "raft")
    assert verified(capsys, "result.json", "ref.txt", *OUTPUTS)["verified"]
    document["paired"][0]["metric"] = "chrf"
    keep(document)
    found = verified(capsys, "result.json", "ref.txt", *OUTPUTS, status=1)
    assert found["problems"] == ["raft against tug by chrf was not tested again."]


@pytest.mark.usefixtures("texts")
def test_what_is_missing_and_what_is_too_much(capsys):
    document = scored(capsys, "ref.txt", "-i", "tug.txt", "raft.txt", "-m", "bleu")
    found = verified(capsys, "result.json", "ref.txt", *OUTPUTS, status=1)
    assert found["problems"] == ["Not among the texts that were scored: barge.txt."]
    found = verified(capsys, "result.json", "ref.txt", "other.txt", "-i", "tug.txt", "raft.txt", status=1)
    assert "There were 1 references, and are 2." in found["problems"]
    found = verified(capsys, "result.json", "ref.txt", "-i", *OUTPUTS, status=1)
    assert 'result.json has no system "barge".' in found["problems"]
    found = verified(capsys, "result.json", "tug.txt", "raft.txt", status=1)
    assert found["problems"][0].startswith("No file has the text of reference 1")
    assert found["scores"] == []
    document["systems"][0]["scores"][0]["score"] = None
    keep(document)
    (first, second) = verified(capsys, "result.json", "ref.txt", "tug.txt", "raft.txt", status=1)["scores"]
    assert (first["verdict"], second["equal"]) == ("differs: undefined when it was published", True)


@pytest.mark.usefixtures("texts")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("BLEU|nrefs:2", "ref.txt", "other.txt"), "as many files, and then the output"),
        (("BLEU|nrefs:1", "ref.txt", "other.txt", "-i", "tug.txt"), "nrefs:1, and 2 references are given"),
        (("BLEU|nrefs:1", "ref.txt", "-i", "tug.txt", "raft.txt", "--score", "5"), "give one output"),
        (("BLEU|nrefs:1", "-i", "tug.txt"), "Give the references after the signature"),
    ],
)
def test_how_many_references_and_outputs_there_must_be(capsys, words, says):
    assert main(["verify", *words]) != 0
    assert says in capsys.readouterr().err


@pytest.mark.usefixtures("texts")
def test_the_score_that_is_given_is_the_published_one_and_differing_parameters_are_reported(capsys):
    metric = parse_metric("bleu")
    segments = Segments.from_lines(references=[REFERENCE], hypotheses=[SYSTEMS["tug"]])
    (result,) = score_systems(segments, [metric])
    right = repr(float(result.scores[0]))
    found = verified(capsys, "BLEU|nrefs:1|case:mixed|tok:13a = 5.0", "ref.txt", "tug.txt", "--score", right)
    assert found["scores"][0]["published"] == right
    verified(capsys, f"BLEU|nrefs:1 = {right}", "ref.txt", "tug.txt", "--score", "5.0", status=1)
    (one,) = verified(capsys, "BLEU|nrefs:1|dict:other", "ref.txt", "tug.txt")["scores"]
    assert one["differences"] == ["dict was other, and is nothing here"]


@dataclass(frozen=True)
class Longer(SegmentMetric):
    """Bytes of the output beyond those of the source."""

    name: ClassVar[str] = "longer"
    source: ClassVar[str] = "this test"
    inputs: ClassVar[frozenset[str]] = frozenset({"source"})

    def score_segments(self, segments):
        assert segments.source is not None
        source = [len(line) for line in segments.source.split(b"\n")]
        return [
            [len(line) - n for line, n in zip(text.split(b"\n"), source, strict=True)] for text in segments.hypotheses
        ]


@pytest.mark.usefixtures("texts")
def test_the_source_is_found_by_its_content_too(capsys, monkeypatch):
    monkeypatch.setitem(registry.PLACES, "longer", f"{__name__}:Longer")
    scored(capsys, "ref.txt", "-i", "tug.txt", "raft.txt", "-src", "other.txt", "-m", "longer", "bleu")
    for words in (
        ("ref.txt", "other.txt", "tug.txt", "raft.txt"),
        ("ref.txt", "tug.txt", "raft.txt", "-src", "other.txt"),
        ("ref.txt", "-i", "tug.txt", "raft.txt", "-src", "other.txt"),
    ):
        assert verified(capsys, "result.json", *words)["verified"]
    words = ("ref.txt", "-i", "tug.txt", "raft.txt", "-src", "barge.txt")
    found = verified(capsys, "result.json", *words, status=1)
    assert found["problems"] == ["The source is not the one that was scored."]
    assert [each["equal"] for each in found["scores"]] == [False, True] * 2


def table(header, *rows):
    return "".join("\t".join(map(str, row)) + "\n" for row in (header, *rows)).encode()


def exported(path, scores, *, version="1", references=None, name="export.zip", **others):
    """A campaign's zip of one test set and the three systems; scores as (submission, metric, score, signature)."""
    references = references or {"A": REFERENCE}
    folder, title = f"test-sets/1-news-{version}", "news" if version == "1" else f"news@{version}"
    labels = ",".join(references)
    files = {
        "test-sets.tsv": table(export.TABLES["test-sets.tsv"], (1, "news", version, labels, folder)),
        "submissions.tsv": table(
            export.TABLES["submissions.tsv"],
            *((number, title, "team", system, "", f"outputs/{number}.txt") for number, system in enumerate(SYSTEMS, 1)),
        ),
        "scores.tsv": table(
            export.TABLES["scores.tsv"],
            *((each, labels, metric, score, 0, "", signature, EDITION) for each, metric, score, signature in scores),
        ),
        **{f"outputs/{number}.txt": "\n".join(lines) + "\n" for number, lines in enumerate(SYSTEMS.values(), 1)},
        **{
            f"{folder}/refs/{place}-{label}.txt": "\n".join(lines) + "\n"
            for place, (label, lines) in enumerate(references.items())
        },
        **others,
    }
    contents = {file: content.encode() if isinstance(content, str) else content for file, content in files.items()}
    hashes = {file: sha256(content).hexdigest() for file, content in contents.items()}
    manifest = {"export": exports.EXPORT_VERSION, "release": VERSION, "files": hashes}
    with zipfile.ZipFile(path / name, "w") as archive:
        for file, content in {**contents, exports.MANIFEST: json.dumps(manifest).encode()}.items():
            archive.writestr(file, content)
    return str(path / name)


def measured(metric, references, *, variable=False):
    """Scores and signature of the three systems."""
    texts = [[line.encode() for line in lines] for lines in references]
    segments = Segments(
        references=[b"\n".join(lines) for lines in texts],
        hypotheses=["\n".join(lines).encode() for lines in SYSTEMS.values()],
        variable_references=variable,
    )
    (result,) = score_systems(segments, [parse_metric(metric)])
    signature = result.metric.signature("var" if variable else len(references), 0, 0)
    return [(number, metric, repr(score), signature) for number, score in enumerate(result.scores.tolist(), 1)]


def test_exports_of_several_and_of_variable_references(tmp_path, capsys):
    both = {"A": REFERENCE, "B": OTHER}
    for variable in (False, True):
        scores = measured("bleu", both.values(), variable=variable) + measured("ter", both.values(), variable=variable)
        found = verified(capsys, exported(tmp_path, scores, references=both, version="2"))
        assert [each["verdict"] for each in found["scores"]] == ["equal to the bit"] * 6
    swapped = {"B": OTHER, "A": REFERENCE}
    scores = measured("bleu", [REFERENCE])
    path = exported(tmp_path, [], references=swapped, **{
        "scores.tsv": table(export.TABLES["scores.tsv"], *((n, "A", m, s, 0, "", g, EDITION) for n, m, s, g in scores))
    })  # fmt: skip
    assert verified(capsys, path)["verified"]


def test_a_score_of_two_boards_is_printed_once(tmp_path, capsys):
    """They differ in what their replicates draw, and so in their signatures."""
    row = measured("bleu", [REFERENCE])[0][:3]
    metric = parse_metric("bleu")
    signatures = [metric.signature(1, 100, 1, unit) for unit in ("segment", "document")]
    rows = [(*row[:1], "A", *row[1:], 100, 1, signature, EDITION) for signature in signatures]
    path = exported(tmp_path, [], **{"scores.tsv": table(export.TABLES["scores.tsv"], *rows)})
    assert [each["differences"] for each in verified(capsys, path)["scores"]] == [[], []]
    assert main(["verify", path, "-f", "tsv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_what_an_export_may_lack(tmp_path, capsys):
    (first, *_) = scores = measured("bleu", [REFERENCE])
    assert verified(capsys, exported(tmp_path, [first]))["verified"]
    assert verified(capsys, exported(tmp_path, []), status=1)["problems"] == [f"{tmp_path}/export.zip has no scores."]
    found = verified(capsys, exported(tmp_path, [first, (9, *first[1:])]), status=1)
    assert found["problems"] == ["scores.tsv: there is no submission 9."]
    undefined = verified(capsys, exported(tmp_path, [(1, "bleu", "", first[3])]), status=1)
    assert undefined["scores"][0]["verdict"] == "differs: undefined when it was published"
    (changed,) = verified(capsys, exported(tmp_path, [(*first[:3], first[3] + "|x:y")]))["scores"]
    assert changed["differences"][0].startswith("the signature was ")
    other = {"scores.tsv": table(export.TABLES["scores.tsv"], (1, "A", *first[1:3], 0, "", first[3], EDITION + 1))}
    assert len(verified(capsys, exported(tmp_path, [], **other))["notes"]) == 1
    assert verified(capsys, exported(tmp_path, scores))["notes"] == []


def test_a_file_of_more_than_is_allowed_is_not_read_in_part(tmp_path, capsys, monkeypatch):
    scores = measured("bleu", [REFERENCE])
    path = exported(tmp_path, scores)
    with zipfile.ZipFile(path) as archive:
        largest = max(each.file_size for each in archive.infolist())
    monkeypatch.setattr(exports, "DEFAULT_LIMITS", TextLimits(file_bytes=largest))
    assert verified(capsys, path)["verified"]
    monkeypatch.setattr(exports, "DEFAULT_LIMITS", TextLimits(file_bytes=largest - 1))
    assert main(["verify", path]) == 1
    assert f"has more than {largest - 1:,} bytes" in capsys.readouterr().err
