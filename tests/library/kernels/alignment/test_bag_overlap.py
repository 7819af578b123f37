from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.kernels.alignment.bag_overlap import bag_overlaps
from tests.library.kernels.word_rows import words_of

segment = st.lists(st.integers(0, 5), max_size=12)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_equals_the_intersection_of_counters(data):
    segments = data.draw(st.integers(1, 5))
    text = st.lists(segment, min_size=segments, max_size=segments)
    references = data.draw(st.lists(text, min_size=1, max_size=3))
    systems = data.draw(st.lists(text, min_size=1, max_size=3))
    flags = st.lists(st.integers(0, 1), min_size=segments, max_size=segments)
    present = np.array([data.draw(flags) for _ in references], np.uint8)
    expected = [
        [
            [
                (Counter(a) & Counter(b)).total() if there else -1
                for a, b, there in zip(reference, system, mask, strict=True)
            ]
            for system in systems
        ]
        for reference, mask in zip(references, present.tolist(), strict=True)
    ]
    assert bag_overlaps(words_of(references, systems), present, len(systems)).tolist() == expected


def test_long_segments():
    a = [0] * 100_000 + [1] * 3
    systems = [[[0] * 70_000 + [1] * 7], [[2] * 5], [a]]
    overlaps = bag_overlaps(words_of([[a]], systems), np.ones((1, 1), np.uint8), 3)
    assert overlaps[0, :, 0].tolist() == [70_003, 0, 100_003]
