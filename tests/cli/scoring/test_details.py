"""The further figures of metrics, as `score`, leaderboards and reports show them."""

import json

import pytest
from sacrebleu.metrics import BLEU

from cli.main import main
from steelyard.commands.scoring.score_tables import detail_table
from tests.acceptance.commands import REPOSITORY, steelyard

HARBOUR = REPOSITORY / "demo" / "harbour"
BUOY, ANCHOR = (str(HARBOUR / "systems" / f"{name}.txt") for name in ("buoy", "anchor"))


def lines(path):
    return path.read_text(encoding="utf-8").splitlines()


@pytest.fixture
def expected():
    """Of the system buoy, by sacreBLEU."""
    theirs = BLEU().corpus_score(lines(HARBOUR / "systems" / "buoy.txt"), [lines(HARBOUR / "refs" / "B.txt")])
    names = ["BP", "ratio", *(f"p_{n}" for n in range(1, 5))]
    return dict(zip(names, [theirs.bp, theirs.ratio, *theirs.precisions], strict=True))


def test_figures_of_metrics_that_have_some(expected, capsys):
    arguments = ["score", str(HARBOUR / "refs" / "B.txt"), "-i", BUOY, ANCHOR, "-m", "wer", "bleu", "-w", "2"]
    assert main([*arguments, "-f", "json"]) == 0
    wer, bleu = json.loads(capsys.readouterr().out)["systems"][0]["scores"]
    assert "details" not in wer
    assert bleu["details"] == pytest.approx(expected)
    assert main(arguments) == 0
    title, *table = capsys.readouterr().out.split("\n\n")[1].splitlines()
    assert title == "Further figures of BLEU"
    assert [line.split() for line in table[::2]] == [
        ["System", *expected],
        ["buoy", *(f"{value:.4f}" for value in expected.values())],
    ]
    assert main([*arguments, "-b"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_figures_of_a_leaderboard(expected, tmp_path):
    arguments = ["--references", "B", "-m", "bleu", "ter", "--confidence", "0", "--output", "out"]
    assert steelyard("evaluate", str(HARBOUR), *arguments, cwd=tmp_path).returncode == 0
    (board,) = json.loads((tmp_path / "out" / "leaderboard.json").read_text())
    (buoy,) = (system["scores"] for system in board["systems"] if system["system"] == "buoy")
    assert buoy[0]["details"] == pytest.approx(expected)
    assert "details" not in buoy[1]
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.count("<summary>Further figures of") == 1
    assert f'<td class="number">{expected["p_4"]:.3f}</td>' in page


def test_counts_have_no_digits_and_gaps_are_empty():
    table = detail_table(["a", "b"], [{"types": 8.0, "share": 1.0}, {"types": 7.0, "share": 0.25, "odd": 2.0}])
    assert table.header() == ["System", "types", "share", "odd"]
    assert table.cells() == [["a", "8", "1.000", ""], ["b", "7", "0.250", "2"]]
    assert not detail_table(["a"], [{}]).rows
