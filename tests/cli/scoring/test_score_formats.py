"""`steelyard score` with layered files, packed ones, and mixtures of formats."""

import gzip
import io
import json
import sys
from types import SimpleNamespace

import pytest

from cli.main import main
from steelyard.commands.scoring.inputs import InputFile, input_file
from tests.library.formats.layered_documents import GENERIC, TCZECH, Sentence, Style, Word, write, write_conllu

REFERENCE = ["Malá kočka spí .", "Kdo tam ?"]
OUTPUT = ["Malé kočky spí .", "Kdo je tam ?"]


def sentences(lines):
    words = [line.split() for line in lines]
    return [
        Sentence(f"s{number}", tuple(range(len(row))), tuple(Word(word, word.lower(), -1) for word in row), ())
        for number, row in enumerate(words)
    ]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The same reference and output in all formats, in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name, lines in (("ref", REFERENCE), ("out", OUTPUT)):
        document = sentences(lines)
        written = {
            "txt": "\n".join(lines) + "\n",
            "conllu": write_conllu(document),
            "tmt": write(document, Style(kind=TCZECH)),
            "later.tmt": write(document, Style(kind=GENERIC, bare=True)),
            "treex": write(document, Style(zone=("cs", name))),
        }
        for ending, content in written.items():
            (tmp_path / f"{name}.{ending}").write_text(content, encoding="utf-8")
            (tmp_path / f"{name}.{ending}.gz").write_bytes(gzip.compress(content.encode()))
    one, other = ((tmp_path / f"{name}.treex").read_text(encoding="utf-8").split("<zones>") for name in ("ref", "out"))
    zones = [""] + [part.partition("</zones>")[0] for part in other[1:]]
    both = "<zones>".join([one[0], *(zone + part for zone, part in zip(zones[1:], one[1:], strict=True))])
    (tmp_path / "both.treex.gz").write_bytes(gzip.compress(both.encode()))
    return tmp_path


def scores(capsys, *arguments):
    assert main(["score", *arguments, "-m", "bleu", "chrf", "ter:norm=no", "-tok", "none", "-f", "json"]) == 0
    result = json.loads(capsys.readouterr().out)
    return [(system["system"], [score["score"] for score in system["scores"]]) for system in result["systems"]]


FILES = ["{}.txt", "{}.txt.gz", "{}.conllu", "{}.conllu.gz", "{}.tmt", "{}.tmt:TCzechA", "{}.tmt.gz:TCzechA",
         "{}.later.tmt", "{}.treex", "{}.treex.gz:cs_{}", "both.treex.gz:cs_{}"]  # fmt: skip


@pytest.mark.parametrize("reference", FILES)
@pytest.mark.parametrize("output", FILES)
def test_every_format_and_mixture_gives_the_scores_of_the_plain_lines(files, capsys, reference, output):
    ((_, expected),) = scores(capsys, "ref.txt", "-i", "out.txt")
    ((name, found),) = scores(capsys, reference.format("ref", "ref"), "-i", output.format("out", "out"))
    assert found == expected
    assert name in ("out", "out.later", "out.TCzechA", "out.cs_out", "both.cs_out")


def test_the_format_can_be_named(files, capsys):
    for name, segments in (("plain", 11), ("conllu", 2)):
        assert main(["score", "ref.conllu", "-i", "ref.conllu", "--input-format", name, "-f", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["test_set"]["segments"] == segments
    assert main(["score", "ref.txt", "-i", "out.txt", "--input-format", "conllu"]) == 1
    assert "ref.txt, line 1: 1 column, CoNLL-U has 10. " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message", "status"),
    [
        (
            ["both.treex.gz", "-i", "out.txt"],
            "both.treex.gz: has several sides; say which zone. It has: cs_out, cs_ref.",
            1,
        ),
        (["both.treex.gz:cs", "-i", "out.txt"], "both.treex.gz: has no zone 'cs'. It has: cs_out, cs_ref.", 1),
        (["ref.tmt:TCzechM", "-i", "out.txt"], "ref.tmt: has no layer 'TCzechM'. It has: TCzechA, TCzechT.", 1),
        (["ref.txt:cs", "-i", "out.txt"], "ref.txt: has no layer or zone 'cs': its format is plain.", 1),
        (["none.treex:cs", "-i", "out.txt"], "none.treex: there is no such file.", 1),
        (["ref.sgm", "-i", "out.conllu"], "ref.sgm has ids for its segments, but out.conllu is matched by position", 1),
        (["short.conllu", "-i", "out.treex"], "out.treex: 2 bundles, 1 more (extra: s1)", 1),
        (
            ["moved.conllu", "-i", "out.conllu"],
            "out.conllu: sentence 1 is 's0', which in moved.conllu is sentence 2",
            1,
        ),
        (["german.treex", "-i", "out.treex"], "out.treex: is in 'cs', but german.treex is in 'de'.", 1),
        (["cut.gz", "-i", "out.txt"], "cut.gz: the gzip data ends too early", 1),
    ],
)
def test_what_does_not_fit_is_said(files, capsys, arguments, message, status):
    (files / "ref.sgm").write_text(
        '<refset setid="s" srclang="cs" trglang="en"><doc docid="d" sysid="r"><seg id="1">a</seg></doc></refset>'
    )
    document = sentences(REFERENCE)
    (files / "short.conllu").write_text(write_conllu(document[:1]))
    (files / "moved.conllu").write_text(write_conllu(document[::-1]))
    (files / "german.treex").write_text(write(document, Style(zone=("de", ""))))
    (files / "cut.gz").write_bytes((files / "ref.txt.gz").read_bytes()[:-1])
    assert main(["score", *arguments]) == status
    assert message in capsys.readouterr().err


def test_a_colon_in_the_name_of_a_file_is_a_part_only_where_there_is_no_such_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a:b").write_text("a\n")
    assert input_file("a:b") == InputFile("a:b")
    assert input_file("a:c") == InputFile("a", "c")
    assert input_file("x:y/z") == InputFile("x:y/z")
    assert input_file(":y") == InputFile(":y")
    assert input_file("-") == InputFile("-")
    assert input_file("-:cs") == InputFile("-", "cs")


@pytest.mark.parametrize("ending", ["txt.gz", "conllu", "treex.gz", "tmt"])
def test_standard_input_may_have_any_format(files, capsys, monkeypatch, ending):
    stream = SimpleNamespace(buffer=io.BytesIO((files / f"out.{ending}").read_bytes()))
    monkeypatch.setattr(sys, "stdin", stream)
    ((_, expected),) = scores(capsys, "ref.txt", "-i", "out.txt")
    ((_, found),) = scores(capsys, "ref.txt")
    assert found == expected


def test_two_systems_of_one_document_have_names_of_their_own(files, capsys):
    found = scores(capsys, "ref.txt", "-i", "both.treex.gz:cs_out", "both.treex.gz:cs_ref")
    assert [name for name, _ in found] == ["both.cs_out", "both.cs_ref"]
    assert found[1][1][0] == pytest.approx(100)


def test_the_samples_score_in_every_format(real_data, capsys):
    folder = real_data.parent / "samples"
    if not folder.is_dir():
        pytest.skip(f"no samples at {folder}")
    references = ["sample.tmt:TCzechA", "sample.treex:cs_ref", "sample.treex.gz:cs_ref", "sample.conllu"]
    outputs = ["sample_cand.tmt", "sample_cand.treex", "sample.treex.gz:cs_cand", "sample_cand.conllu"]
    found = [
        scores(capsys, f"{folder}/{reference}", "-i", *(f"{folder}/{output}" for output in outputs))
        for reference in references
    ]
    assert len({tuple(values) for row in found for _, values in row}) == 1
    assert [name for name, _ in found[0]] == ["sample_cand", "sample_cand", "sample.cs_cand", "sample_cand"]
