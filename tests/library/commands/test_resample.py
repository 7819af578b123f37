"""`--resample document` of `score` and `rank`, and `verify` of what it made."""

import json
import os
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from steelyard.commands.main import main
from steelyard.metrics.registry import parse_metrics
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from steelyard.resampling.documents import Documents

SEGMENTS = 120
DOCUMENTS = [f"d{number // 5}" for number in range(SEGMENTS)]


@pytest.fixture(autouse=True)
def texts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(5)
    words = np.array(["the", "a", "cat", "dog", "tug", "sits", "runs", "there", "here", "now"])
    for name in ("ref", "tug", "raft"):
        lines = [" ".join(random.choice(words, 7)) for _ in range(SEGMENTS)]
        Path(f"{name}.txt").write_text("\n".join(lines) + "\n")
    rows = "".join(f"{number}\t{name}\tnews\n" for number, name in enumerate(DOCUMENTS))
    Path("docs.tsv").write_text(f"segment\tdoc_id\tdomain\n{rows}")
    Path("pair.docs").write_text("".join(f"news\t{name}\n" for name in DOCUMENTS))


def run(capsys, *words, status=0):
    assert main([*words]) == status
    return capsys.readouterr()


SCORE = ("score", "ref.txt", "-i", "tug.txt", "raft.txt", "-m", "bleu", "chrf")


@pytest.mark.parametrize("file", ["docs.tsv", "pair.docs"])
def test_score_draws_documents(capsys, file):
    words = (*SCORE, "--confidence", "100", "--resample", "document", "--documents", file, "-f", "json")
    found = json.loads(run(capsys, *words).out)
    lines = {name: Path(f"{name}.txt").read_text().splitlines() for name in ("ref", "tug", "raft")}
    segments = Segments.from_lines(references=[lines["ref"]], hypotheses=[lines["tug"], lines["raft"]])
    results = score_systems(
        segments, parse_metrics(["bleu", "chrf"]), replicates=100, documents=Documents.from_names(DOCUMENTS)
    )
    for row, system in enumerate(found["systems"]):
        for score, result in zip(system["scores"], results, strict=True):
            low, high = np.quantile(result.replicate_scores[row], [0.025, 0.975])
            assert score["interval"]["low"] == pytest.approx(low, abs=0.2)
            assert score["interval"]["high"] == pytest.approx(high, abs=0.2)
            assert "|resample:document|" in score["signature"]
    plain = json.loads(run(capsys, *SCORE, "--confidence", "100", "-f", "json").out)
    assert plain["systems"][0]["scores"][0]["score"] == found["systems"][0]["scores"][0]["score"]
    assert plain["systems"][0]["scores"][0]["interval"] != found["systems"][0]["scores"][0]["interval"]


def test_files_with_ids_say_their_documents(capsys):
    for name, field in (("ref", "reference"), ("tug", "hypothesis"), ("raft", "hypothesis")):
        rows = [
            {"doc_id": document, "segment_id": str(number), field: line}
            for number, (document, line) in enumerate(
                zip(DOCUMENTS, Path(f"{name}.txt").read_text().splitlines(), strict=True)
            )
        ]
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    drawn = ("--confidence", "100", "--resample", "document", "-f", "json")
    by_ids = run(capsys, *(word.replace(".txt", ".jsonl") for word in SCORE), *drawn)
    plain = run(capsys, *SCORE, *drawn, "--documents", "docs.tsv")
    by_ids, plain = ([each["scores"] for each in json.loads(found.out)["systems"]] for found in (by_ids, plain))
    assert by_ids == plain
    assert plain[0][0]["interval"]["low"] < plain[0][0]["score"]


def test_documents_come_through_a_pipe(capsys):
    """Which can be read once, as the shell's <(...)."""
    words = (*SCORE, "--confidence", "50", "--resample", "document", "-f", "json", "--documents")
    reading, writing = os.pipe()
    os.write(writing, Path("docs.tsv").read_bytes())
    os.close(writing)
    assert run(capsys, *words, f"/dev/fd/{reading}") == run(capsys, *words, "docs.tsv")
    os.close(reading)


@pytest.mark.parametrize(
    "words", [("--paired", "bootstrap"), ("--paired", "randomization", "--trials", "50"), ("--interval", "bca")]
)
def test_what_was_made_by_documents_is_verified(capsys, words):
    by_document = ("--confidence", "50", "--resample", "document", "--documents", "docs.tsv")
    text = run(capsys, *SCORE, *words, *by_document, "-f", "json").out
    Path("result.json").write_text(text)
    given = ("verify", "result.json", "ref.txt", "tug.txt", "raft.txt")
    run(capsys, *given, "--documents", "docs.tsv")
    Path("docs.tsv").write_text(Path("docs.tsv").read_text().replace("\td3\t", "\td2\t"))
    assert "differ" in run(capsys, *given, "--documents", "docs.tsv", status=1).out
    assert "needs to know the documents" in run(capsys, *given, status=2).err


def test_people_are_shown_a_notice_about_documents(capsys):
    words = (*SCORE, "--paired", "bootstrap", "--resample", "document", "--documents", "docs.tsv")
    text = run(capsys, *words).out
    assert "bootstrap replicates of documents, seed" in text
    assert "p: paired bootstrap, 1,000 replicates of documents, seed 12345" in text
    Path("docs.tsv").write_text(
        "segment\tdoc_id\n" + "".join(f"{number}\td{number % 3}\n" for number in range(SEGMENTS))
    )
    assert "There are only 3 documents" in run(capsys, *words).err


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (("--confidence", "--resample", "document"), 2, "add --documents FILE"),
        (("--confidence", "--documents", "docs.tsv"), 2, "goes with --resample document"),
        (("--resample", "document", "--documents", "docs.tsv"), 2, "goes with --confidence or --paired"),
        (("--confidence", "--resample", "document", "--documents", "ref.txt"), 1, "must be a domain"),
        (("--confidence", "--resample", "document", "--documents", "none.tsv"), 1, "none.tsv"),
    ],
)
def test_what_does_not_go_together(capsys, words, status, says):
    assert says in run(capsys, *SCORE, *words, status=status).err


def rows(documents):
    random = np.random.default_rng(2)
    lines = ["pair\tsystem\tmetric\tdocument\tsegment\tscore"]
    for system, mean in (("tug", 0.6), ("raft", 0.5), ("barge", 0.4)):
        for number, document in enumerate(documents):
            shared = np.random.default_rng(crc32(f"{system}{document}".encode())).normal() / 4
            lines.append(f"en-cs\t{system}\tX\t{document}\t{number}\t{mean + shared + random.normal() / 50}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("paired", ["bootstrap", "randomization"])
def test_rank_draws_documents(capsys, paired):
    Path("scores.tsv").write_text(rows([f"d{number // 4}" for number in range(100)]))
    words = ("rank", "scores.tsv", "--paired", paired, "--trials", "200", "-f", "json")
    plain, found = (json.loads(run(capsys, *words, "--resample", unit).out) for unit in ("segment", "document"))
    assert (plain["resample"], found["resample"]) == ("segment", "document")
    for one, other in zip(plain["pairs"][0]["systems"], found["pairs"][0]["systems"], strict=True):
        assert one["scores"][0]["score"] == other["scores"][0]["score"]
        narrow, wide = (each["scores"][0]["interval"] for each in (one, other))
        # Segments of a document are nearly equal: four of them are hardly more than one.
        assert 1.5 < (wide["high"] - wide["low"]) / (narrow["high"] - narrow["low"]) < 2.5


def test_rank_of_scores_without_documents(capsys):
    Path("scores.tsv").write_text(
        "system\tmetric\tsegment\tscore\na\tX\t1\t0.5\na\tX\t2\t0.5\nb\tX\t1\t1\nb\tX\t2\t2\n"
    )
    error = run(capsys, "rank", "scores.tsv", "--resample", "document", status=2).err
    assert "X: its scores name no documents" in error
