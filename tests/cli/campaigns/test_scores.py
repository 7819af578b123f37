"""`steelyard scores`, on a database and on a server: a campaign of scores alone, from files to a ranking."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.main import main
from steelyard_client.commands.campaigns.scores import _read
from tests.cli.backends import Run
from tests.cli.backends import live as live
from tests.cli.backends import run as run
from tests.client.live import Live


def scores_of(folder: Path, system: str, shift: float) -> None:
    lines = [
        {
            "language_pair": pair,
            "domain": "news",
            "document_id": name,
            "metric_scores": {"X": [shift, shift + 0.5, shift + 1], "Y": [-shift, None, 1.0]},
        }
        for pair in ("en-cs_CZ", "en-is_IS")
        for name in ("a", "b")
    ]
    (folder / f"{system}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.few(1)
def test_from_files_to_a_ranking(run: Run, live: Live, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "automatic_scores"
    folder.mkdir()
    for number, system in enumerate(("ant", "bee", "cow")):
        scores_of(folder, system, float(number))
    first = run("scores", "import", "wmt25", str(folder), "--create")
    assert first.count("segments") == 4
    assert "known" in run("scores", "import", "wmt25", str(folder), "--create", "--pair", "en-cs_CZ")
    listed = json.loads(run("scores", "list", "wmt25", "-f", "json"))
    assert [(each["test_set"], each["metric"], each["shown"]) for each in listed] == [
        (pair, metric, True) for pair in ("en-cs_CZ", "en-is_IS") for metric in ("X", "Y")
    ]
    metrics = tmp_path / "metrics.tsv"
    metrics.write_text("en-cs_CZ\tX\nen-is_IS\tX\nen-is_IS\tY\n")
    made = run("scores", "autorank", "wmt25", "--rule", "wmt24", "--metrics", str(metrics))
    assert "autorank:rule=wmt24:of=1,2" in made
    metrics.write_text("test_set\tmetric\tweight\nen-is_IS\tX\t3\nen-is_IS\tY\t1\n")
    each = run("scores", "autorank", "wmt25", "--rule", "wmt24", "--metrics", str(metrics), "-m", "X")
    assert "autorank:rule=wmt24:of=1,2:weights=3,1" in each
    assert "autorank:rule=wmt24:of=1\n" in each
    assert main(["leaderboard", "wmt25", "--all", "-f", "json", "--database", live.service.settings.database_url]) == 0
    boards = json.loads(capsys.readouterr().out)
    assert len(boards) == 2
    by_system = {each["system"]: each["scores"] for each in boards[0]["systems"]}
    # X is 0.5, 1.5 and 2.5: from 4 for the worst to 1 for the best.
    assert [by_system[name][-1]["score"] for name in ("ant", "bee", "cow")] == [4.0, 2.5, 1.0]
    assert by_system["ant"][0]["interval"] is not None
    matrix = run("campaign", "matrix", "wmt25", "--sort", "autorank").splitlines()
    assert "Mean rank  AutoRank  Gaps" in matrix[1]
    # Y is the other way round, and weighs a quarter on en-is_IS: (1 + (3 * 1 + 4) / 4) / 2 for the best by X.
    assert [line.split()[:4] for line in matrix[3:6]] == [
        ["cow", "1.0", "1.4", "0"],
        ["bee", "2.0", "2.5", "0"],
        ["ant", "3.0", "3.6", "0"],
    ]
    scores_of(folder, "ant", 5.0)
    run("scores", "import", "wmt25", str(folder), "--pair", "en-is_IS", "--metric", "X@new")
    assert "There are: X@1, Y@1, X@new" in run("scores", "choose", "wmt25", "X@old", status=1)
    run("scores", "choose", "wmt25", "X@1", "--test-set", "en-is_IS")
    shown = json.loads(run("scores", "list", "wmt25", "-f", "json"))
    assert {(each["version"], each["shown"]) for each in shown if each["metric"] == "X"} == {
        ("1", True),
        ("new", False),
    }
    run("scores", "delete", "wmt25", "X", "--yes")
    assert "X" not in {each["metric"] for each in json.loads(run("scores", "list", "wmt25", "-f", "json"))}
    assert "no such file" in run("scores", "import", "wmt25", str(tmp_path / "none.json"), status=2)


def test_nothing_is_created_for_scores_that_are_refused(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "automatic_scores"
    folder.mkdir()
    scores_of(folder, "ant", 0.0)
    said = run("scores", "import", "wmt25", str(folder), "--create", "--pair", "en-de", status=1)
    assert "The scores: there is no pair en-de." in said
    assert run("campaign", "list", "-f", "tsv").count("\n") == 1, "only the header"


def test_files_that_would_be_called_the_same_are_not_taken_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are sent by the name of their folder and their own: the second would replace the first."""
    for folder in ("one/en-cs", "two/en-cs", "two/en-is"):
        (tmp_path / folder).mkdir(parents=True)
        scores_of(tmp_path / folder, "ant", 0.0)
    monkeypatch.chdir(tmp_path)
    words = ("scores", "import", "wmt25", "one", "two", "--create", "--database", f"sqlite:///{tmp_path}/none.db")
    assert main(words) == 2
    assert "Two files are called en-cs/ant.jsonl" in capsys.readouterr().err
    assert sorted(_read(["one", "two/en-is"])) == ["en-cs/ant.jsonl", "en-is/ant.jsonl"]
