"""Krippendorff's alpha and what is said of each annotator: published and worked examples, a brute-force twin, laws."""

import math
from itertools import permutations, product
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.meta_evaluation.human.annotators import describe_annotators, reliability
from steelyard.meta_evaluation.human.judgments import Judgment

# Krippendorff 2011, "Computing Krippendorff's alpha-reliability", section C: 4 observers, 12 units.
PUBLISHED = {
    "a": [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    "b": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    "c": [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    "d": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
}


def test_the_published_example():
    judgments = [
        Judgment(name, "x", unit, float(value))
        for name, values in PUBLISHED.items()
        for unit, value in enumerate(values)
        if value is not None
    ]
    found = reliability(judgments)
    assert round(found.alpha, 3) == 0.849
    assert found.outputs == 11, "one unit has one value"


drawn = st.lists(
    st.builds(
        Judgment,
        st.sampled_from("abc"),
        st.sampled_from("xy"),
        st.integers(0, 2),
        st.integers(0, 100).map(float),
        wave=st.integers(0, 1),
    ),
    unique_by=lambda each: (each.annotator, each.system, each.segment, each.wave),
)


@given(judgments=drawn)
def test_it_is_one_minus_observed_over_expected_disagreement(judgments):
    units = {}
    for each in judgments:
        units.setdefault((each.system, each.segment, each.wave), []).append(each.value)
    units = [values for values in units.values() if len(values) > 1]
    every = [value for values in units for value in values]
    observed = sum(sum((a - b) ** 2 for a, b in permutations(values, 2)) / (len(values) - 1) for values in units)
    expected = sum((a - b) ** 2 for a, b in permutations(every, 2)) / (len(every) - 1) if every else 0
    found = reliability(judgments)
    assert found.outputs == len(units)
    if expected:
        assert found.alpha == pytest.approx(1 - observed / expected)
    else:
        assert math.isnan(found.alpha)
    assert str(reliability(judgments[::-1])) == str(found), "sums are exact"


def test_each_annotator_by_hand():
    judgments = [
        Judgment("eva", "x", 0, 40.0, seconds=10.0),
        Judgment("eva", "x", 1, 60.0, seconds=30.0),
        Judgment("eva", "y", 0, 80.0),
        # Twice: 50 and 70 are 60, and 20 above Eva.
        Judgment("jan", "x", 0, 50.0),
        Judgment("jan", "x", 0, 70.0),
        Judgment("ota", "y", 5, 0.0),
    ]
    eva, jan, ota = describe_annotators(judgments, judgments)
    spread = math.sqrt(sum((value - 48) ** 2 for value in (40, 60, 80, 60, 0)) / 4)
    assert (eva.name, eva.judgments, eva.outputs, eva.mean, eva.deviation) == ("eva", 3, 3, 60.0, 20.0)
    assert (eva.shared, eva.seconds) == (1, 20.0)
    assert (jan.judgments, jan.outputs, jan.mean, jan.shared) == (2, 1, 60.0, 1)
    assert eva.z == pytest.approx(-20 / spread)
    assert jan.z == pytest.approx(20 / spread)
    assert math.isnan(jan.deviation)
    assert math.isnan(jan.seconds)
    assert (ota.judgments, ota.shared) == (1, 0)
    assert math.isnan(ota.z)


@pytest.mark.parametrize("times", list(product((None, 0.0, 6.0), repeat=3)))
def test_a_judgment_in_no_time_counts_and_one_of_unknown_time_does_not(times):
    judgments = [Judgment("eva", "x", segment, 50.0, seconds=seconds) for segment, seconds in enumerate(times)]
    (eva,) = describe_annotators(judgments, judgments)
    known = [seconds for seconds in times if seconds is not None]
    assert eva.seconds == pytest.approx(median(known) if known else math.nan, nan_ok=True)


def test_nobody_and_who_gave_nothing_that_can_be_compared():
    assert describe_annotators([], []) == []
    assert reliability([]).outputs == 0
    (eva,) = describe_annotators([], [Judgment("eva", "x", 0, 1.0, "ranking", 0, 5.0)])
    assert (eva.judgments, eva.outputs, eva.seconds) == (1, 0, 5.0)
    assert math.isnan(eva.mean)
