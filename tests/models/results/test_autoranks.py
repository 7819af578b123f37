"""AutoRank on a leaderboard: which columns it is made of, in which direction, and of whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from campaigns.leaderboards import autoranks as pairs
from models.results.autoranks import autorank_columns, autoranks
from steelyard.ranking.autorank_column import AutoRank

COLUMN = AutoRank(rule="wmt24", of="1,3")


@dataclass(frozen=True)
class OneScore:
    score: float | None
    higher_is_better: bool


def rows(*of_systems: Sequence[float | None]) -> list[list[OneScore]]:
    """Scores by three metrics: better where higher, of no use, better where lower."""
    return [
        [OneScore(score, position != 2) for position, score in enumerate(scores)] if scores else []
        for scores in of_systems
    ]


def test_which_columns_there_are() -> None:
    found = autorank_columns(
        ["bleu", "autorank:rule=wmt25:of=1", "autorank:rule=wmt25:of=4", "autorank:rule=wmt24:of=3,1",
         "autorank:rule=wmt20:of=1", "autorank:rule=wmt25", "autorank:rule=wmt25:of=x"]
    )  # fmt: skip
    assert {position: each.positions for position, each in found.items()} == {1: [0], 2: [3], 3: [2, 0]}
    assert autorank_columns(["bleu", "autorank:rule=wmt25:of=3"]) == {}


def test_less_is_better_where_it_is_and_who_lacks_a_score_is_not_among_them() -> None:
    systems = rows([3.0, 0.0, 1.0], [None, 1.0, 1.0], [2.0, 2.0, 2.0], [], [1.0, 9.0, 5.0], [3.0, 9.0, None])
    replicates = {
        (0, 0): [3.0, 1.0], (2, 0): [2.0, 2.0], (4, 0): [1.0, 3.0],
        (0, 2): [1.0, 5.0], (2, 2): [2.0, 3.0], (4, 2): [5.0, 1.0],
    }  # fmt: skip
    found = autoranks(COLUMN, systems, lambda number, metric: np.array(replicates[number, metric]))
    assert {number: value for number, (value, _) in found.items()} == pytest.approx(
        {0: 1.0, 2: (2.5 + 1.75) / 2, 4: 4.0}
    )
    # In the second replicate everything is the other way round.
    assert {number: own[0] for number, (_, own) in found.items()} == pytest.approx({0: 1.0, 2: 2.125, 4: 4.0})
    assert found[0][1][1] == pytest.approx(4.0)
    assert found[4][1][1] == pytest.approx(1.0)
    assert autoranks(COLUMN, rows([None, 1.0, 1.0]), lambda number, metric: np.zeros(2)) == {}


def test_one_undefined_replicate_leaves_autorank_without_any() -> None:
    systems = rows([3.0, 0.0, 1.0], [2.0, 0.0, 2.0])
    found = autoranks(
        COLUMN, systems, lambda number, metric: np.array([1.0, np.nan if (number, metric) == (1, 2) else 2.0])
    )
    assert all(np.isnan(own).all() for _, own in found.values())
    assert [value for value, _ in found.values()] == [1.0, 3.0]


def test_pairs_differ_both_ways_and_the_extremes_of_all_replicates_too() -> None:
    draws = np.random.default_rng(1)
    # The first is always best and the second always worst; the other two change places.
    first, worst = np.full(200, 1.0), np.full(200, 4.0)
    third = 2.0 + draws.random(200)
    fourth = 5.0 - third
    found = pairs.tested_autoranks([1.0, 4.0, 2.5, 2.5], [first, worst, third, fourth])
    different = found.different
    assert (different == different.T).all()
    assert different[0, 1]
    assert not different[2, 3]
    assert not different.diagonal().any()
    assert found.not_testable == 0
    undefined = pairs.tested_autoranks([1.0, 4.0], [first, np.full(200, np.nan)])
    assert (undefined.different.any(), undefined.not_testable) == (False, 1)
