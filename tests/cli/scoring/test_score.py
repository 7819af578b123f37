"""`steelyard score` as users type it."""

import json
import math
import re

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

from cli.main import main
from steelyard.resampling.interval import percentile_interval

REFERENCE = [
    "The harbour is closed today.",
    "Nobody knows why, not even the pilot.",
    "It opens at 5.30 tomorrow.",
]
GOOD = [
    "The harbour is closed today.",
    "Nobody knows why, the pilot does not either.",
    "It opens tomorrow at 5.30.",
]
POOR = ["Harbour closed.", "No one know it.", "Opening at tomorrow 5,30"]


@pytest.fixture
def files(tmp_path):
    """Paths of a reference and two systems."""
    for name, lines in (("ref", REFERENCE), ("good", GOOD), ("poor", POOR)):
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [str(tmp_path / f"{name}.txt") for name in ("ref", "good", "poor")]


def run_json(capsys, *arguments):
    assert main(["score", *arguments, "-f", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_json_has_the_documented_structure(files, capsys):
    reference, good, poor = files
    result = run_json(capsys, reference, "-i", good, poor, "-m", "bleu", "chrf++", "--confidence", "200", "--segments")
    assert set(result) == {"version", "test_set", "systems", "paired"}
    assert result["test_set"]["segments"] == 3
    assert len(result["test_set"]["hashes"]["references"][0]) == 64
    assert [system["system"] for system in result["systems"]] == ["good", "poor"]
    bleu, chrf = result["systems"][0]["scores"]
    assert (bleu["metric"], chrf["metric"], chrf["title"]) == ("bleu", "chrf++", "chrF2++")
    assert bleu["score"] == pytest.approx(BLEU().corpus_score(GOOD, [REFERENCE]).score, rel=1e-12)
    assert chrf["score"] == pytest.approx(CHRF(word_order=2).corpus_score(GOOD, [REFERENCE]).score, rel=1e-12)
    assert bleu["interval"]["level"] == 0.95
    assert bleu["interval"]["n"] == 200
    assert bleu["interval"]["low"] < bleu["interval"]["high"]
    assert "bs:200|seed:12345" in bleu["signature"]
    assert len(bleu["segments"]) == 3
    assert bleu["segments"][0] == pytest.approx(100.0)
    assert result["paired"] == []


def test_without_confidence_there_is_no_interval(files, capsys):
    result = run_json(capsys, files[0], "-i", files[1])
    scores = result["systems"][0]["scores"]
    assert [score["metric"] for score in scores] == ["bleu", "chrf", "ter"]
    assert all(score["interval"] is None and "segments" not in score for score in scores)


def test_shard_size_changes_nothing(real_data, capsys):
    folder = real_data / "wmt22.en-cs"
    arguments = [
        str(folder / "refs/B.txt"),
        "-i",
        str(folder / "systems/Online-B.txt"),
        "-m",
        "bleu",
        "ter",
        "fmeasure",
    ]
    arguments += ["--confidence", "100", "--segments"]
    whole = run_json(capsys, *arguments)
    assert whole == run_json(capsys, *arguments, "--shard-size", "300")
    assert whole["systems"][0]["scores"][0]["interval"] is not None


def test_several_references_and_systems(files, capsys):
    reference, good, poor = files
    result = run_json(capsys, reference, poor, "-i", good, reference, "-m", "bleu", "chrf", "ter")
    peers = [metric(references=[REFERENCE, POOR]) for metric in (BLEU, CHRF, TER)]
    for system, lines in zip(result["systems"], (GOOD, REFERENCE), strict=True):
        for ours, peer in zip(system["scores"], peers, strict=True):
            assert ours["score"] == pytest.approx(peer.corpus_score(lines, None).score, rel=1e-12)
            assert ours["signature"].startswith("nrefs:2|")


def test_text_names_scores_signatures_and_intervals(files, capsys):
    assert main(["score", files[0], "-i", files[1], "-m", "bleu", "-w", "3", "--confidence", "100"]) == 0
    out = capsys.readouterr().out
    score = BLEU().corpus_score(GOOD, [REFERENCE]).score
    assert f"{score:.3f} [" in out
    assert "BLEU|nrefs:1|bs:100|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|" in out
    assert "95 %" in out


def test_score_only(files, capsys):
    assert main(["score", files[0], "-i", *files[1:], "-m", "bleu", "chrf", "-b", "-w", "2"]) == 0
    expected = [
        f"{BLEU().corpus_score(lines, [REFERENCE]).score:.2f} {CHRF().corpus_score(lines, [REFERENCE]).score:.2f}"
        for lines in (GOOD, POOR)
    ]
    assert capsys.readouterr().out.splitlines() == expected


def test_tsv_has_a_row_for_each_score_and_segment(files, capsys):
    assert main(["score", files[0], "-i", *files[1:], "-m", "bleu", "wer", "-f", "tsv", "--segments"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    header, body = rows[0], rows[1:]
    assert header[:4] == ["system", "metric", "segment", "score"]
    assert len(body) == 2 * 2 * (1 + 3)
    corpus = {(row[0], row[1]): float(row[3]) for row in body if not row[2]}
    assert corpus["good", "bleu"] == pytest.approx(BLEU().corpus_score(GOOD, [REFERENCE]).score, rel=1e-12)


def test_level_and_seed(files, capsys):
    arguments = [files[0], "-i", files[1], "-m", "chrf", "--confidence", "500"]

    def interval(*more):
        return run_json(capsys, *arguments, *more)["systems"][0]["scores"][0]["interval"]

    wide, narrow = interval("--level", "0.99"), interval("--level", "0.5")
    assert wide["low"] < narrow["low"] <= narrow["high"] < wide["high"]
    assert interval() == interval("--seed", "12345")
    assert interval("--level", "0.9", "--seed", "1") != interval("--level", "0.9", "--seed", "2")
    described = {"level": 0.9, "n": 500, "kind": "bca"}
    assert described.items() <= interval("--level", "0.9", "--interval", "bca").items()
    assert interval()["kind"] == "percentile"


def test_lowercase_and_tokenizer_reach_the_metrics_that_have_them(files, capsys):
    result = run_json(capsys, files[0], "-i", files[2], "-m", "bleu", "chrf", "ter", "-lc", "-tok", "intl")
    bleu, chrf, ter = result["systems"][0]["scores"]
    assert "case:lc" in bleu["signature"]
    assert "tok:intl" in bleu["signature"]
    assert "case:lc" in chrf["signature"]
    assert "tok:tercom|norm:no" in ter["signature"]
    expected = BLEU(lowercase=True, tokenize="intl").corpus_score(POOR, [REFERENCE]).score
    assert bleu["score"] == pytest.approx(expected, rel=1e-12)


def test_language_pair_chooses_the_tokenizer(files, capsys):
    result = run_json(capsys, files[0], "-i", files[1], "-m", "bleu", "-l", "en-zh")
    assert "tok:zh" in result["systems"][0]["scores"][0]["signature"]


def test_variable_references(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("one two\n\nfive six\n")
    (tmp_path / "b.txt").write_text("one too\nthree four\n\n")
    (tmp_path / "s.txt").write_text("one two\nthree four\nfive six\n")
    arguments = [
        str(tmp_path / "a.txt"),
        str(tmp_path / "b.txt"),
        "-i",
        str(tmp_path / "s.txt"),
        "-m",
        "chrf",
    ]
    result = run_json(capsys, *arguments, "--variable-references")
    assert result["systems"][0]["scores"][0]["signature"].startswith("nrefs:var|")
    assert result["systems"][0]["scores"][0]["score"] == pytest.approx(100)
    (tmp_path / "b.txt").write_text("one too\n\n\n")
    assert main(["score", *arguments, "--variable-references"]) == 1
    assert "Segment 2 has no reference at all" in capsys.readouterr().err


def test_standard_input(files, capsys, monkeypatch):
    import io
    import sys

    stream = io.TextIOWrapper(io.BytesIO("\n".join(GOOD).encode() + b"\n"))
    monkeypatch.setattr(sys, "stdin", stream)
    result = run_json(capsys, files[0], "-m", "bleu")
    assert result["systems"][0]["scores"][0]["score"] == pytest.approx(BLEU().corpus_score(GOOD, [REFERENCE]).score)


def test_a_file_with_a_colon_in_its_name_is_that_file_and_no_part_of_another(files, tmp_path, capsys):
    """`FILE:PART` names a part of a document only where there is no file of that whole name."""
    for name, lines in (("good.txt:en", POOR), ("v1:2", GOOD)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    given = [files[1], f"{files[1]}:en", str(tmp_path / "v1:2")]
    result = run_json(capsys, files[0], "-i", *given, "-m", "bleu")
    scores = [system["scores"][0]["score"] for system in result["systems"]]
    assert scores == pytest.approx([BLEU().corpus_score(each, [REFERENCE]).score for each in (GOOD, POOR, GOOD)])
    assert [system["system"] for system in result["systems"]] == ["good", "good.txt:en", "v1:2"]


def test_the_installation_says_how_many_files_there_may_be(files, capsys, monkeypatch):
    reference, good, poor = files
    monkeypatch.setenv("STEELYARD_MOST_SYSTEMS", "3")
    assert main(["score", reference, "-i", good, poor, "-m", "bleu"]) == 0
    capsys.readouterr()
    assert main(["score", reference, "-i", good, poor, good, "-m", "bleu"]) == 1
    assert "The files given" in capsys.readouterr().err
    for none in ("0", "many", "-1"):
        monkeypatch.setenv("STEELYARD_MOST_SYSTEMS", none)
        assert main(["score", reference, "-i", good, "-m", "bleu"]) == 2
        assert f"STEELYARD_MOST_SYSTEMS={none!r}: must be a whole number from 1 on." in capsys.readouterr().err


def test_an_undefined_score_is_null_and_not_a_number(tmp_path, capsys):
    from steelyard.commands.scoring.score_json import number
    from steelyard.tables.delimited import as_tsv

    assert number(math.nan) is None
    assert as_tsv(["metric", "score"], [("nist", math.nan)]) == "metric\tscore\nnist\t\n"
    assert percentile_interval(np.array([1.0, math.nan]), 0.9) is None


def test_documents_with_ids_give_the_scores_of_the_plain_lines(real_data, capsys, tmp_path):
    """mteval SGML and XML: two references and ten systems, each set in one file."""
    folder = real_data / "mteval"
    rows = [line.split("\t") for line in (folder / "segments.tsv").read_text().splitlines()]
    assert rows[0][0] == "segment"
    lines = [int(row[0]) for row in rows[1:]]
    campaign = real_data / "wmt22.en-cs"

    def chosen(path):
        text = path.read_text(encoding="utf-8").split("\n")
        # Marked-up text has single blanks.
        (tmp_path / path.name).write_text("\n".join(" ".join(text[line].split(" ")) for line in lines) + "\n")
        return str(tmp_path / path.name)

    references = [chosen(path) for path in sorted((campaign / "refs").iterdir())]
    systems = [chosen(path) for path in sorted((campaign / "systems").iterdir())]
    plain = run_json(capsys, *references, "-i", *systems, "-m", "bleu", "chrf")
    for kind in ("sgm", "xml"):
        both, outputs = (str(folder / f"wmt22.en-cs.{part}.{kind}") for part in ("ref", "tst"))
        marked = run_json(capsys, both, "-i", outputs, "-m", "bleu", "chrf")
        assert [system["system"] for system in marked["systems"]] == [system["system"] for system in plain["systems"]]
        for ours, theirs in zip(marked["systems"], plain["systems"], strict=True):
            assert [score["score"] for score in ours["scores"]] == [score["score"] for score in theirs["scores"]]


def test_plain_and_marked_files_do_not_mix(files, tmp_path, capsys):
    marked = tmp_path / "ref.sgm"
    marked.write_text(
        '<refset setid="s" srclang="cs" trglang="en"><doc docid="d" sysid="r"><seg id="1">a</seg></doc></refset>'
    )
    assert main(["score", str(marked), "-i", files[1]]) == 1
    assert "ref.sgm has ids for its segments" in capsys.readouterr().err


def test_scores_without_an_upper_bound_get_more_digits(files, capsys):
    assert main(["score", files[0], "-i", files[1], "-m", "nist", "bleu", "--confidence", "20"]) == 0
    row = capsys.readouterr().out.splitlines()[2]
    nist, low, high, bleu = re.fullmatch(r"good +(\S+) \[(\S+), (\S+)\]  (\S+) \[.*", row).groups()
    assert [len(number.partition(".")[2]) for number in (nist, low, high, bleu)] == [3, 3, 3, 1]
    assert main(["score", files[0], "-i", files[1], "-m", "nist", "bleu", "-b", "-w", "4"]) == 0
    assert [len(number.partition(".")[2]) for number in capsys.readouterr().out.split()] == [4, 4]
