"""What `evaluate` shows of several test sets."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from cli.campaigns.evaluated import show_matrix


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
