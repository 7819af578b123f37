"""The order of segments by scores: against its definition, those without scores last."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.inspection.segment_scores import Measure
from campaigns.inspection.segments import Order, _Material, _ordered
from campaigns.inspection.visible import VisibleOutput, VisibleTestSet

COUNT = 8
TEST_SET = VisibleTestSet(1, "news", "1", COUNT, "en", "cs", False, None, (), replaced=False)
OUTPUTS = [VisibleOutput(number, number, "team", "system", f"system {number}", own=False) for number in (7, 3, 5)]
SCORES = st.lists(st.sampled_from([0.0, 1.0, 2.5, 4.0, math.nan]), min_size=COUNT, max_size=COUNT)


def by_definition(order: Order, rows: list[list[float]], better: float) -> list[float]:
    """What segments are sorted by, the smallest first."""
    means = [better * sum(row[place] for row in rows) / len(rows) for place in range(COUNT)]
    ahead = [better * (rows[0][place] - rows[1][place]) for place in range(COUNT)]
    return {
        Order.WORST: means,
        Order.BEST: [-each for each in means],
        Order.DIFFERENCE: [-abs(each) for each in ahead],
        Order.FIRST_BETTER: [-each for each in ahead],
        Order.SECOND_BETTER: ahead,
    }[order]


@pytest.mark.parametrize("order", [each for each in Order if each is not Order.NUMBER])
@given(
    rows=st.lists(SCORES, min_size=2, max_size=3),
    fitting=st.sets(st.integers(0, COUNT - 1)),
    higher=st.booleans(),
)
def test_segments_are_in_the_order_that_is_asked_for(
    order: Order, rows: list[list[float]], fitting: set[int], higher: bool
) -> None:
    chosen = OUTPUTS[: len(rows)]
    scores = {each.submission: np.array(row) for each, row in zip(chosen, rows, strict=True)}
    measure = Measure(1, 0, "m", "M", ("A",), higher, 100.0)
    found = _ordered(np.array(sorted(fitting), np.intp), _Material(TEST_SET, chosen, scores), order, measure)
    keys = by_definition(order, rows, 1.0 if higher else -1.0)
    expected = sorted(fitting, key=lambda place: (math.isnan(keys[place]), keys[place], place))
    assert found.tolist() == [place for place in expected if not math.isnan(keys[place])] + sorted(
        place for place in fitting if math.isnan(keys[place])
    )


@pytest.mark.parametrize("order", list(Order))
def test_without_scores_they_are_in_the_order_of_the_test_set(order: Order) -> None:
    fitting = np.array([1, 4, 6])
    measure = Measure(1, 0, "m", "M", ("A",), True, 100.0)
    one = {OUTPUTS[0].submission: np.arange(COUNT, 0.0, -1.0)}
    assert _ordered(fitting, _Material(TEST_SET, OUTPUTS, {}), order, measure).tolist() == [1, 4, 6]
    assert _ordered(fitting, _Material(TEST_SET, OUTPUTS, one), order, None).tolist() == [1, 4, 6]
    # A difference needs two.
    turned = order is Order.WORST
    found = _ordered(fitting, _Material(TEST_SET, OUTPUTS[:1], one), order, measure)
    assert found.tolist() == ([6, 4, 1] if turned else [1, 4, 6])
