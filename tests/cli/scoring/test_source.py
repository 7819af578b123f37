"""`score --source`: what was translated, for metrics that read it."""

import json

import pytest

from cli.main import main
from steelyard.metrics import registry

SOURCE, REFERENCE, OUTPUT = ["ab", "abcd"], ["abc", "abcdef"], ["abcd", "abcdefgh"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Files of lines and of rows with ids, and a metric: bytes of the output per byte of the source."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(registry.PLACES, "length_ratio", "tests.scheduler.enqueue.test_source:LengthRatio")
    for name, field, lines in (
        ("src", "source", SOURCE),
        ("ref", "reference", REFERENCE),
        ("out", "hypothesis", OUTPUT),
    ):
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
        rows = [
            {"doc_id": "d", "segment_id": str(number), field: line} for number, line in reversed([*enumerate(lines)])
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "short.txt").write_text("ab\n")


@pytest.mark.parametrize("option", ["-src", "--source"])
@pytest.mark.parametrize("ending", ["txt", "jsonl"])
def test_the_source_is_read_as_the_other_files_are(option, ending, capsys):
    command = ["score", f"ref.{ending}", "-i", f"out.{ending}", option, f"src.{ending}"]
    assert main([*command, "-m", "length_ratio", "-f", "json", "--segments"]) == 0
    shown = json.loads(capsys.readouterr().out)
    (system,) = shown["systems"]
    (score,) = system["scores"]
    assert (score["score"], sorted(score["segments"])) == (200.0, [200.0, 200.0])
    assert main(["score", "src.txt", "-i", "out.txt", "-m", "wer", "-f", "json"]) == 0
    (as_reference,) = json.loads(capsys.readouterr().out)["test_set"]["hashes"]["references"]
    # The rows with ids are the other way round.
    assert (shown["test_set"]["hashes"]["source"] == as_reference) == (ending == "txt")


def test_without_one_nothing_is_said_of_it(capsys):
    assert main(["score", "ref.txt", "-i", "out.txt", "-m", "wer", "-f", "json"]) == 0
    assert set(json.loads(capsys.readouterr().out)["test_set"]["hashes"]) == {"references"}


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ([], "length_ratio reads the source, and there is none"),
        (["--source", "short.txt"], "short.txt"),
        (["--source", "gone.txt"], "gone.txt"),
        (["--source", "src.jsonl"], "has ids for its segments"),
    ],
)
def test_what_cannot_be_used_is_an_error(source, said, capsys):
    assert main(["score", "ref.txt", "-i", "out.txt", *source, "-m", "length_ratio"]) == 1
    shown = capsys.readouterr()
    assert said in shown.err
    assert not shown.out
