from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from steelyard.kernels.edit.edit_distance import edit_distances
from tests.library.kernels.word_rows import words_of

word = st.integers(0, 3)
short = st.lists(word, max_size=9)
# Around the edges of the 64-bit words, with runs that carry far.
long = st.builds(
    lambda size, body, fill: (body * size)[:size] if body else [fill] * size,
    st.sampled_from([0, 1, 2, 63, 64, 65, 127, 128, 129, 191, 200]),
    st.lists(st.integers(0, 200), max_size=70),
    word,
)


def definition(a, b):
    @cache
    def distance(i, j):
        if not i or not j:
            return i + j
        replaced = distance(i - 1, j - 1) + (a[i - 1] != b[j - 1])
        return min(distance(i - 1, j) + 1, distance(i, j - 1) + 1, replaced)

    return distance(len(a), len(b))


def texts(segment):
    return st.integers(1, 4).flatmap(
        lambda n: st.tuples(
            st.lists(st.lists(segment, min_size=n, max_size=n), min_size=1, max_size=3),
            st.lists(st.lists(segment, min_size=n, max_size=n), min_size=1, max_size=3),
        )
    )


def check(references, systems, present, distance):
    found = edit_distances(words_of(references, systems), present, len(systems))
    for r, reference in enumerate(references):
        for s, system in enumerate(systems):
            for i in range(len(reference)):
                expected = distance(reference[i], system[i]) if present[r, i] else -1
                assert found[r, s, i] == expected


@settings(max_examples=150, deadline=None)
@given(texts(short), st.data())
def test_equals_the_recursive_definition(sides, data):
    references, systems = sides
    flags = st.lists(st.booleans(), min_size=len(references[0]), max_size=len(references[0]))
    present = np.array([data.draw(flags) for _ in references], np.uint8)
    check(references, systems, present, definition)


@settings(max_examples=150, deadline=None)
@given(texts(long))
def test_equals_rapidfuzz_on_long_segments(sides):
    references, systems = sides
    check(references, systems, np.ones((len(references), len(references[0])), np.uint8), Levenshtein.distance)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 400), st.integers(0, 400), st.integers(1, 50), st.randoms(use_true_random=False))
def test_equals_rapidfuzz_on_random_segments(longest, other, types, random):
    a = [random.randrange(types) for _ in range(longest)]
    b = [random.randrange(types) for _ in range(other)]
    check([[a]], [[b]], np.ones((1, 1), np.uint8), Levenshtein.distance)


@pytest.mark.parametrize("length", [63, 64, 65, 128, 129, 1000])
def test_known_distances(length):
    a = list(range(length))
    systems = [[a], [a[1:]], [a[:-1]], [[4999, *a]], [a[::-1]], [[]], [[length] * length], [a + a]]
    distances = edit_distances(words_of([[a]], systems), np.ones((1, 1), np.uint8), len(systems))[0, :, 0]
    assert distances.tolist() == [0, 1, 1, 1, length - length % 2, length, length, length]


def test_hundred_thousand_words():
    a, b = list(range(100_000)), list(range(500, 100_500))
    distances = edit_distances(words_of([[a]], [[b], [a]]), np.ones((1, 1), np.uint8), 2)
    assert distances.tolist() == [[[1000], [0]]]


def test_no_words_at_all():
    assert edit_distances(words_of([[[]]], [[[]]]), np.ones((1, 1), np.uint8), 1).tolist() == [[[0]]]
