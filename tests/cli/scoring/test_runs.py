"""`steelyard score --runs`."""

import json

import pytest

from cli.main import main

REFERENCES = [["the crane lifts the red box", "nobody waits"], ["a crane takes up the red box now", "all wait"]]
SYSTEM = ["the red box the crane lifts", "nobody waits here"]


@pytest.fixture
def arguments(tmp_path):
    """Of `score`, with two references and one system."""
    for name, lines in (("a", REFERENCES[0]), ("b", REFERENCES[1]), ("crane", SYSTEM)):
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n")
    a, b, crane = (str(tmp_path / f"{name}.txt") for name in ("a", "b", "crane"))
    return ["score", a, b, "-i", crane, "--runs"]


def test_json_gives_the_runs_of_every_segment(arguments, capsys):
    assert main([*arguments, "-m", "bleu", "gtm:e=2", "-f", "json"]) == 0
    bleu, gtm = json.loads(capsys.readouterr().out)["systems"][0]["scores"]
    assert "runs" not in bleu
    assert gtm["runs"] == [
        [
            {"size": 3, "place": 4, "reference": 1, "reference_place": 1, "words": ["the", "crane", "lifts"]},
            {"size": 3, "place": 1, "reference": 2, "reference_place": 5, "words": ["the", "red", "box"]},
        ],
        [{"size": 2, "place": 1, "reference": 1, "reference_place": 1, "words": ["nobody", "waits"]}],
    ]


def test_text_and_tsv_have_a_row_for_every_run(arguments, capsys):
    assert main([*arguments, "-m", "gtm", "wer"]) == 0
    _, runs = capsys.readouterr().out.split("Runs of GTM\n")
    rows = [line.split() for line in runs.split("\n\n")[0].splitlines()[2:]]
    assert rows == [
        ["1", "crane", "3", "4", "1", "1", "the", "crane", "lifts"],
        ["1", "crane", "3", "1", "2", "5", "the", "red", "box"],
        ["2", "crane", "2", "1", "1", "1", "nobody", "waits"],
    ]
    assert main([*arguments, "-m", "gtm", "wer", "-f", "tsv"]) == 0
    _, runs = capsys.readouterr().out.split("\n\n")
    header, *body = (line.split("\t") for line in runs.splitlines())
    assert header == ["metric", "segment", "system", "size", "place", "reference", "reference_place", "words"]
    assert [line[:7] + line[7].split() for line in body] == [["gtm", *row] for row in rows]


def test_runs_do_not_depend_on_the_shards(real_data, capsys):
    folder = real_data / "wmt22.en-cs"
    references = [str(path) for path in sorted((folder / "refs").iterdir())]
    systems = [str(folder / f"systems/{name}.txt") for name in ("Online-B", "Online-W")]
    printed = []
    for more in ([], ["--shard-size", "256"]):
        assert main(["score", *references, "-i", *systems, "-m", "gtm", "--runs", "-f", "tsv", *more]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert printed[0].splitlines()[-1].split("\t")[1] == "2037"


def test_runs_need_gtm(arguments, capsys):
    assert main([*arguments, "-m", "bleu"]) == 2
    assert "add gtm to -m" in capsys.readouterr().err


def test_text_does_not_steer_the_terminal(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("a \x1b[2J b\n")
    assert main(["score", str(tmp_path / "a.txt"), "-i", str(tmp_path / "a.txt"), "-m", "gtm:tok=none", "--runs"]) == 0
    out = capsys.readouterr().out
    assert "a \\x1b[2J b" in out
    assert "\x1b" not in out
