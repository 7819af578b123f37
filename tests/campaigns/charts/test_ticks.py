"""Numbers along an axis: round, few, short, and equal to what they stand for."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.charts.ticks import MAX_LABEL_LENGTH, MAX_STEPS, ticks_between

BACK = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")


def told(label: str, note: str) -> Fraction:
    """What a reader takes from a label and the axis's note."""
    raised, _, added = note.partition(" ") if note.startswith("×10") else ("", "", note)
    scale = Fraction(10) ** int(raised.removeprefix("×10").translate(BACK) or 0)
    return Fraction(label.translate(BACK)) * scale + Fraction(added.replace(" ", "").translate(BACK) or 0)


@pytest.mark.parametrize(
    ("low", "high", "labels", "note"),
    [
        (0, 1, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"], ""),
        (51, 58.7, ["51", "52", "53", "54", "55", "56", "57", "58"], ""),
        (-0.3, 0.3, ["−0.3", "−0.2", "−0.1", "0.0", "0.1", "0.2", "0.3"], ""),
        (1.9e6, 2.7e6, ["1900000", "2000000", "2100000", "2200000", "2300000", "2400000", "2500000", "2600000"], ""),
        (-1.1e9, 1.3e9, ["−1.0", "−0.5", "0.0", "0.5", "1.0"], "×10⁹"),
        (1.234e9, 1.242e9, ["1.234", "1.235", "1.236"], "×10⁹"),
        (2.00001, 2.00002, ["1.0", "1.2", "1.4", "1.6", "1.8", "2.0"], "×10⁻⁵ + 2"),
        (99999.5, 100000.5, ["0.6", "0.8", "1.0", "1.2", "1.4"], "+ 99999"),
    ],
)
def test_labels_are_as_short_as_they_can_be(low, high, labels, note):
    ticks = ticks_between(low, high)
    assert (list(ticks.labels)[: len(labels)], ticks.note) == (labels, note)


@given(st.floats(-1e12, 1e12), st.floats(1e-6, 1e12), st.integers(1, MAX_STEPS))
def test_any_axis_has_few_short_labels_that_are_true(low, length, most):
    high = low + max(length, abs(low) * 1e-9)
    ticks = ticks_between(low, high, most)
    assert len(ticks.places) == len(ticks.labels) <= most + 1
    assert all(len(label) <= MAX_LABEL_LENGTH for label in ticks.labels)
    room = (high - low) * 1e-6
    for place, label in zip(ticks.places, ticks.labels, strict=True):
        assert low - room <= place <= high + room
        assert math.isclose(told(label, ticks.note), place, rel_tol=1e-12, abs_tol=1e-12 * length)


@pytest.mark.parametrize("ends", [(5e-324, 1e-323), (1e300, 1.1e300), (1.0, 1.0 + 1e-15)])
def test_the_ends_of_what_numbers_can_say(ends):
    assert len(ticks_between(*ends).places) <= MAX_STEPS + 1
