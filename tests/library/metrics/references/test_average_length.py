"""The average reference length against fractions."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from steelyard.metrics.references.average_length import UNIT, average_lengths, summed_length


@given(st.integers(1, 8), st.integers(1, 5), st.data())
def test_it_is_that_of_the_references_there_are(references, segments, data):
    shape = references, segments
    lengths = np.array(
        data.draw(st.lists(st.integers(0, 99), min_size=references * segments, max_size=references * segments))
    )
    lengths = lengths.reshape(shape)
    flags = st.lists(st.integers(0, 1), min_size=references, max_size=references).filter(any)
    present = np.array([data.draw(flags) for _ in range(segments)], np.uint8).T.copy()
    found = average_lengths(lengths, present)
    for i, (whole, rest) in enumerate(found.tolist()):
        there = lengths[:, i][present[:, i] > 0].tolist()
        assert whole == sum(there) // len(there)
        assert whole + Fraction(rest, UNIT) == Fraction(sum(there), len(there))


def test_it_is_exact_for_sixteen_references_and_close_for_more():
    for references in range(1, 40):
        lengths = np.array([[3]] + [[4]] * (references - 1))
        whole, rest = average_lengths(lengths, np.ones((references, 1), np.uint8))[0].tolist()
        missing = (4 * references - 1) * UNIT - (whole * UNIT + rest) * references
        assert abs(missing) <= references / 2
        assert missing == 0 or UNIT % references
        assert 0 <= rest < UNIT


def test_sums_of_it_are_words_again():
    thirds = average_lengths(np.array([[1, 2], [1, 2], [2, 3]]), np.ones((3, 2), np.uint8))
    assert summed_length(thirds.sum(axis=0).astype(float)) == float(Fraction(4 + 7, 3))
