"""Buckets by length."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from steelyard.inspection.lengths import CHARACTERS, WORDS, counts_characters, length_buckets, reference_lengths


def test_lengths_are_means_over_the_references_that_are_there():
    references = [["a b c", "", "x", ""], ["a", "b c", "y z", ""]]
    assert reference_lengths(references, characters=False).tolist() == [2.0, 2.0, 1.5, 0.0]
    assert reference_lengths([["我们 在", "a"]], characters=True).tolist() == [3.0, 1.0]


def test_the_ends_of_buckets():
    names, buckets = length_buckets([np.array([0.0, 10.0, 10.5]), np.array([11.0, 20.0, 60.0, 61.0, 900.0])], WORDS)
    assert names == ["up to 10", "11–20", "21–30", "31–40", "41–50", "51–60", "over 60"]
    assert buckets.tolist() == [0, 0, 1, 1, 1, 5, 6, 6]


@given(st.lists(st.floats(0, 500), max_size=20))
def test_every_segment_is_in_one_bucket(lengths):
    names, buckets = length_buckets([np.array(lengths)], CHARACTERS)
    assert len(buckets) == len(lengths)
    assert all(0 <= bucket < len(names) for bucket in buckets)


def test_languages_without_spaces():
    assert all(map(counts_characters, ("zh", "zh_TW", "ZH-Hans", "ja")))
    assert not any(map(counts_characters, ("cs", "", "en-GB")))
