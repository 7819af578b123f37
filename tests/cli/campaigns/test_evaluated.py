"""What `evaluate` shows of several test sets."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cli.campaigns.evaluated import MANY_REPORTS, Report, ranked_scores, show_matrix, write_reports
from cli.main import main

# From Python 3.12 on; the pool of the embedded worker is forked from a thread by design.
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


def board(**scores: float | None) -> Any:
    """A leaderboard by TER, the second metric, with these scores; of the first one all have 99."""
    values = sorted(value for value in scores.values() if value is not None)
    rows = [
        SimpleNamespace(
            name=name,
            ranked=True,
            scores=[
                SimpleNamespace(score=99.0, rank=7, scale=100.0),
                SimpleNamespace(score=value, rank=value and values.index(value) + 1, scale=100.0),
            ],
        )
        for name, value in scores.items()
    ]
    return SimpleNamespace(
        rows=rows, sorted_by=1, titles=["BLEU", "TER ↓"], name=lambda row: row.name, rank_of=lambda *_: None,
        higher_is_better=lambda metric: metric == 0,
    )  # fmt: skip


def test_the_matrix_is_against_all_references_by_the_metric_that_ranks() -> None:
    news = [board(mast=31.0, keel=32.0), board(mast=33.0, keel=34.0), board(mast=21.5, keel=20.5)]
    text = show_matrix(["news", "none yet", "talks"], [news, [], [board(mast=11.0, keel=None)]], 1)
    rows = {line.split()[0]: line for line in text.splitlines() if line[:4] in ("mast", "keel")}
    assert "TER" in text
    assert "none yet" not in text
    assert "21.5" in rows["mast"]
    assert "11.0" in rows["mast"]
    assert "20.5" in rows["keel"]
    assert not any(other in text for other in ("31.0", "33.0", "34.0", "99"))


def test_systems_without_a_score_by_the_metric_that_ranks_have_no_rank_in_the_matrix() -> None:
    """Neither those with no scores at all, nor those that this metric has not scored, nor what is undefined."""
    found = board(mast=31.0, keel=32.0)
    first = SimpleNamespace(score=99.0, rank=7, scale=100.0)
    others = {
        "empty": [], "missing": [first, None], "unknown": [first, SimpleNamespace(score=None, rank=None, scale=100.0)],
        "undefined": [first, SimpleNamespace(score=math.nan, rank=None, scale=100.0)],
    }  # fmt: skip
    found.rows += [SimpleNamespace(name=name, ranked=True, scores=scores) for name, scores in others.items()]
    assert {name: (each.score, each.rank) for name, each in ranked_scores(found).items()} == {
        "mast": (31.0, 1), "keel": (32.0, 2),
    }  # fmt: skip


def test_systems_that_are_not_ranked_keep_their_scores() -> None:
    found = board(mast=31.0, keel=32.0)
    found.rows[0].ranked = False
    found.rank_of = lambda row, metric: SimpleNamespace(low=row, high=row + 5, cluster=metric)
    ranked = ranked_scores(found)
    assert {name: (each.score, each.rank) for name, each in ranked.items()} == {"mast": (31.0, None), "keel": (32.0, 2)}
    assert [(each.low, each.high, each.cluster) for each in ranked.values()] == [(0, 5, 1), (1, 6, 1)]


@pytest.mark.parametrize("number", [1, 3, MANY_REPORTS])
def test_each_test_set_has_a_report_of_its_own_leaderboards(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Written by this process, as one process is all that may be used."""
    written: list[Report] = []
    monkeypatch.setattr(Report, "write", lambda report, _: written.append(report))
    folders: Any = [SimpleNamespace(name=f"set-{each}", notices=[f"of {each}"]) for each in range(number)]
    boards: Any = [[f"board {each}"] for each in range(number)]
    paths = write_reports(sqlite_url, tmp_path / "home", "wmt", boards, folders, ["raft"])
    assert paths == [each.path for each in written]
    assert [(each.path.name, each.title, each.boards, each.notices, each.without) for each in written] == [
        ("report.html" if number == 1 else f"set-{each}.html", "wmt" if number == 1 else f"wmt: set-{each}",
         [f"board {each}"], [f"of {each}"], ["raft"])
        for each in range(number)
    ]  # fmt: skip


def test_another_campaign_with_the_same_texts_is_not_shown(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Test sets are stored once, and so are the rules by which they are scored: campaigns share them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STEELYARD_BROKER_URL", raising=False)
    texts = {"refs/A": "a b c d\ne f g h\n", "refs/B": "a b c e\ne f g i\n", "systems/mast": "a b c d\ne f\n"}
    texts |= {f"systems/keel/{run}": f"a b c d\ne {run}\n" for run in "12"}
    for name, text in texts.items():
        file = tmp_path / "quay" / f"{name}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    words = ["evaluate", "quay", "-m", "chrf", "--confidence", "0", "--processes", "1", "--database", sqlite_url]
    for name in ("first", "second"):
        assert main([*words, "--name", name, "--output", name]) == 0
        boards = json.loads((tmp_path / name / "leaderboard.json").read_text())
        assert [(each["campaign"], each["references"]) for each in boards] == [
            (name, ["A"]), (name, ["B"]), (name, ["A", "B"]),
        ]  # fmt: skip
        for each in boards:
            runs = {system["name"]: system["runs"] for system in each["systems"]}
            assert runs == {"mast": [], "keel (2 runs)": ["1", "2"]}
    assert "measured before" in capsys.readouterr().err
