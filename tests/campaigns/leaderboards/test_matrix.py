"""Which leaderboards make a matrix, in which order its rows stand, and what of systems it takes."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from campaigns.errors import NotFound
from campaigns.leaderboards import matrix
from campaigns.leaderboards.matrix import _column, _key, _of_systems, _position, _ranked_scores, one_for_each_test_set


def choice(name: str, version: str = "1", *, superseded: bool = False, replaced: bool = False) -> Any:
    key = f"{name}@{version}"
    title = name if version == "1" else key
    return SimpleNamespace(
        name=name, version=version, test_set_key=key, test_set=title, superseded=superseded, replaced=replaced
    )


def chosen(choices: list[Any], *only: str) -> list[str]:
    return [each.test_set_key for each in one_for_each_test_set(choices, only)]


def test_each_test_set_has_the_first_leaderboard_that_is_in_use() -> None:
    old = choice("b", superseded=True)
    first, second = choice("b"), choice("b")
    choices = [old, choice("b", "2", replaced=True), first, second, choice("a", "2"), choice("a")]
    assert one_for_each_test_set(choices, [])[-1] is first
    assert chosen(choices) == ["a@1", "a@2", "b@1"]
    assert chosen(choices, "a") == ["a@1", "a@2"]
    assert chosen(choices, "a@2") == ["a@2"]
    assert chosen(choices, "b", "a@1") == ["a@1", "b@1"]
    for only in (("b@2",), ("a", "c")):
        with pytest.raises(NotFound, match=f"the test set '{only[-1]}'. There are: b, a@2, a"):
            chosen(choices, *only)
    with pytest.raises(NotFound, match=r"has no leaderboard\. It has none yet"):
        chosen([old])


@pytest.mark.parametrize(
    ("metrics", "wanted", "position"),
    [
        (["bleu", "chrf"], "", 0),
        (["bleu", "chrf"], "chrf", 1),
        (["chrf", "bleu:tok=zh"], "bleu", 1),
        (["chrf", "bleu:tok=zh"], "bleu:tok=ja-mecab", 1),
        (["bleu:tok=zh", "bleu:tok=zh:order=2"], "bleu:tok=13a", None),
        (["chrf"], "bleu", None),
    ],
)
def test_the_metric_that_ranks(metrics: list[str], wanted: str, position: int | None) -> None:
    assert _position(SimpleNamespace(metrics=metrics), wanted) == position


def row(name: str, gaps: int, autorank: float | None, *ranks: int | None) -> Any:
    cells = [None if rank == 0 else SimpleNamespace(rank=rank) for rank in ranks]
    return SimpleNamespace(name=name, gaps=gaps, autorank=autorank, cells=cells)


@pytest.mark.parametrize(
    ("sort", "place", "order"),
    [
        ("system", None, "aBcd"),
        ("gaps", None, "dBca"),
        ("autorank", None, "Bdac"),
        ("x", 0, "adBc"),
        ("x", 1, "dBca"),
        ("mean_rank", None, None),
    ],
)
def test_rows_are_sorted_and_equal_ones_stay(sort: str, place: int | None, order: str | None) -> None:
    # A rank of 0 here means that there is no cell, and None that it is not ranked.
    rows = [row("d", 0, 2.0, 2, 1), row("B", 1, 1.0, None, 2), row("c", 1, None, 0, 3), row("a", 2, 3.0, 1, None)]
    key = _key(sort, place)
    if order is None:
        assert key is None
    else:
        assert "".join(each.name for each in sorted(rows, key=key)) == order


@pytest.fixture
def view(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Systems by the second of three metrics, the third an AutoRank: one has no score, one NaN, one no rank."""

    def line(title: str, values: tuple[float | None, ...], rank: float | None, place: Any, *, own: bool = False) -> Any:
        scores = [SimpleNamespace(score=each) for each in values]
        entry = SimpleNamespace(scores=scores, name=(title, own), origin="team" if own else "baseline")
        return SimpleNamespace(entry=entry, rank=rank, place=place)

    def named(_access: object, entry: Any) -> Any:
        return SimpleNamespace(title=entry.name[0], own=entry.name[1])

    monkeypatch.setattr(matrix, "display_name", named)
    place = SimpleNamespace(low=1, high=2, cluster=7)
    lines = [
        line("ant", (1.0, 50.0, 1.5), 1, place),
        line("bee", (9.0, math.nan, math.nan), None, None, own=True),
        line("ant", (1.0, 40.0, 2.5), 2, None),
        line("cow", (), None, None),
        line("dog", (1.0, 30.0, None), None, None, own=True),
    ]
    listed = SimpleNamespace(
        metrics=["bleu", "chrf", "autorank"], protocol_id=4, test_set="news", version="2", target_language="cs",
        references=("A", "B"), resample="document", segments=9,
    )  # fmt: skip
    return SimpleNamespace(lines=lines, listed=listed, query=SimpleNamespace(metric=1), testing=3)


def test_scores_are_those_of_the_ranking_metric_the_best_of_one_name(view: Any) -> None:
    found = _ranked_scores(None, view, None)
    assert {name: (each.score, each.rank) for name, each in found.items()} == {"ant": (50.0, 1), "dog": (30.0, None)}
    assert (found["ant"].low, found["ant"].high, found["ant"].cluster) == (1, 2, 7)
    assert (found["dog"].low, found["dog"].high, found["dog"].cluster) == (None, None, None)


def test_own_systems_and_all_of_their_autoranks(view: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "autorank_columns", lambda _metrics: {2: "column"})
    ant, bee, same, cow, dog = [line.entry for line in view.lines]
    entries = {"ant": [ant, same], "bee": [bee], "cow": [cow], "dog": [dog]}
    twice = {name: 2 * found for name, found in entries.items()}
    assert _of_systems(None, [view, view]) == ({"bee", "dog"}, {"ant": [1.5, 2.5, 1.5, 2.5]}, twice)
    monkeypatch.setattr(matrix, "autorank_columns", lambda _metrics: {})
    assert _of_systems(None, [view]) == ({"bee", "dog"}, {}, entries)


def test_a_column_says_of_which_leaderboard_it_is(view: Any) -> None:
    column = _column(view, {"b", "a"}, "chrf", None)
    assert column.model_dump() | {"resample": "document"} == {
        "board": 4,
        "test_set": "news",
        "version": "2",
        "target_language": "cs",
        "references": ["A", "B"],
        "metric": "chrf",
        "resample": "document",
        "segments": 9,
        "systems": 2,
        "best": ["a", "b"],
        "testing": 3,
    }
