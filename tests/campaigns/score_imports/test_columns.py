"""Columns without texts among the metrics of a leaderboard, and scores matched with systems: no database."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.errors import BadRequest
from campaigns.pinned_autoranks import pinned_autoranks
from campaigns.score_imports.columns import _replaced, with_column, without_column
from campaigns.score_imports.scored import LARGEST_SUM, ScoredSystems
from steelyard.errors import BadParameter
from steelyard.formats.scores.score_tables import MetricTable
from steelyard.metrics.metric import Metric
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.without_texts.imported import Imported

COMET, COMET_2, XCOMET = (
    Imported.from_texts({"metric": name, "ver": version, "sha256": "0" * 12})
    for name, version in (("COMET", "1"), ("COMET", "2"), ("XCOMET", "1"))
)


def metrics(*specifications: str | Metric) -> list[Metric]:
    return [parse_metric(each) if isinstance(each, str) else each for each in specifications]


def names(found: Sequence[Metric]) -> list[str]:
    return [each.specification for each in found]


def test_a_version_takes_the_place_of_another_and_other_metrics_come_last() -> None:
    board = metrics("bleu", COMET, XCOMET, "chrf")
    assert with_column(board, COMET_2) == metrics("bleu", COMET_2, XCOMET, "chrf")
    assert with_column(board, COMET) == board
    assert with_column(metrics("bleu"), COMET) == metrics("bleu", COMET)
    assert with_column(board, parse_metric("chrf")) == board


def test_without_a_column_autoranks_mean_the_same_ones() -> None:
    board = metrics("bleu", COMET, XCOMET, "chrf", "autorank:rule=wmt24:of=1,3,4", "autorank:rule=wmt25:of=1,4")
    gone = without_column(board, COMET)
    assert names(gone) == names(
        metrics("bleu", XCOMET, "chrf", "autorank:rule=wmt24:of=1,2,3", "autorank:rule=wmt25:of=1,3")
    )
    # One that was made of it, alone or with others, goes with it.
    assert names(without_column(board, XCOMET)) == names(metrics("bleu", COMET, "chrf", "autorank:rule=wmt25:of=1,3"))
    assert names(without_column(board, parse_metric("bleu"))) == names(metrics(COMET, XCOMET, "chrf"))


@pytest.mark.parametrize(
    ("old", "kept", "replaced"),
    [
        ({"bleu"}, {"bleu"}, False),
        ({"bleu", COMET.specification}, {"bleu", COMET_2.specification}, True),
        ({"bleu", COMET.specification}, {"bleu"}, True),
        # What was computed is not thrown away, nor a leaderboard of computed metrics that gains a column.
        ({"bleu", "chrf"}, {"bleu", COMET.specification}, False),
        ({"bleu"}, {"bleu", COMET.specification}, False),
        # Of one with imported columns alone nothing is lost.
        ({COMET.specification}, {COMET.specification, XCOMET.specification}, True),
        ({COMET.specification}, set(), True),
    ],
)
def test_which_leaderboards_another_one_replaces(old: set[str], kept: set[str], replaced: bool) -> None:
    assert _replaced(old, kept) is replaced


def test_autoranks_are_pinned_to_columns_each_once() -> None:
    board = metrics("bleu", COMET, "autorank:rule=wmt25", "autorank:rule=wmt24:of=COMET", "autorank:rule=wmt25:of=1,2")
    assert names(pinned_autoranks(board)) == [
        "bleu",
        COMET.specification,
        "autorank:rule=wmt25:of=1,2",
        "autorank:rule=wmt24:of=2",
    ]
    assert names(pinned_autoranks(metrics("bleu", COMET, "autorank:of=2")))[-1].endswith(":of=2")
    for wrong, message in (("autorank:of=3", "not made of AutoRanks"), ("autorank:of=4", "has no metric"),
                           ("autorank:of=0", "has no metric"), ("autorank:of=chrf", "has no metric"),
                           ("autorank:of=1,3", "not made of AutoRanks"), ("autorank:of=²", "has no metric"),
                           ("autorank:of=1,bleu", "each once")):  # fmt: skip
        with pytest.raises(BadParameter, match=message):
            pinned_autoranks(metrics("bleu", COMET, wrong))
    with pytest.raises(BadParameter) as refused:
        pinned_autoranks(metrics("bleu", COMET, "autorank:of=chrf"))
    assert str(refused.value).count("AutoRank") == 0, "only what it can be made of is named"
    assert str(refused.value).count("BLEU") == 1


def scored(scores: object, places: Sequence[int | None] | None = None, **rows: int) -> ScoredSystems:
    table = MetricTable("M", "segment", np.array(scores, dtype=np.float64))
    return ScoredSystems(table, range(table.scores.shape[1]) if places is None else places, rows)


def test_systems_are_rows_wherever_they_stand_and_units_without_a_place_are_left_out() -> None:
    found = scored([[1, 2, 3, 4], [np.nan] * 4, [5, np.nan, 7, 8]], [None, 2, None, 0], bee=2, ant=0, cow=1)
    assert found.places == [2, 0]
    np.testing.assert_array_equal(found.scores, [[np.nan, 8], [2, 4], [np.nan, np.nan]])
    assert found.systems == 2
    metric = Imported.from_texts({"metric": "M", "sha256": "0" * 12})
    statistics = {system: each.tolist() for system, each in found.statistics(metric, 3)}
    assert statistics == {"bee": [[8, 1], [0, 0], [0, 0]], "ant": [[4, 1], [0, 0], [2, 1]]}


values = st.sampled_from([0.0, -0.0, 1.5, -2.0, float("nan")])


@given(st.lists(st.tuples(values, values, values), min_size=3, max_size=3), st.permutations(["ant", "bee", "cow"]))
def test_a_hash_is_of_the_scores_whatever_the_order_of_systems(
    rows: list[tuple[float, float, float]], order: list[str]
) -> None:
    by_name = dict(zip(("ant", "bee", "cow"), rows, strict=True))
    first = scored(rows, ant=0, bee=1, cow=2)
    other = scored([by_name[name] for name in order], **{name: row for row, name in enumerate(order)})
    assert first.content_hash == other.content_hash
    positive = scored([[each + 0.0 for each in row] for row in rows], ant=0, bee=1, cow=2)
    assert positive.content_hash == first.content_hash


def test_a_hash_changes_with_all_that_the_scores_mean() -> None:
    rows = np.array([[1.0, 2.0], [3.0, np.nan]])
    tables = [
        MetricTable("M", "segment", rows),
        MetricTable("M", "document", rows),
        MetricTable("M", "segment", rows, higher_is_better=False),
        MetricTable("M", "segment", rows + 1e-9),
        MetricTable("M", "segment", rows[:, ::-1]),
        MetricTable("M", "segment", rows[::-1]),
    ]
    ways = [ScoredSystems(each, [0, 1], {"ant": 0, "bee": 1}) for each in tables]
    ways += [ScoredSystems(tables[0], [0, 2], {"ant": 0, "bee": 1}), ScoredSystems(tables[0], [0, 1], {"ant": 0})]
    ways += [ScoredSystems(tables[0], [0, 1], {"ant": 0, "cow": 1})]
    assert len({each.content_hash for each in ways}) == len(ways)


@pytest.mark.parametrize("sign", [1, -1])
def test_what_cannot_be_added_exactly_is_refused(sign: int) -> None:
    most = LARGEST_SUM / 4
    assert scored([[sign * np.nextafter(most, 0), 0, np.nan, 0]], ant=0).systems == 1
    with pytest.raises(BadRequest, match="Sums of 4 such scores would not be exact"):
        scored([[0, 0, 0, 0], [sign * most, 0, np.nan, 0]], ant=0, bee=1)
    # What has no place is not added.
    assert scored([[sign * most, 0, 0, 0]], [0, 1, None, 2], ant=0).systems == 1
