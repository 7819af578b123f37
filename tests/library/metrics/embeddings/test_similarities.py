"""The kernel of both embedding metrics against definitions in plain Python, and its bits."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.kernels.bindings import kernel
from steelyard.kernels.embeddings.similarities import EDIT, WHOLE, similarities
from steelyard.metrics.segments import Segments
from tests.library.campaigns import joined
from tests.library.metrics.embeddings.vector_definition import best_similarity, distance, ngrams

LETTERS = "abcdefgh"
number = st.sampled_from([0.0, 1.0, -1.0, 0.5, -2.0, 3.25, 1e-3, 1e10])
vocabularies = st.integers(1, 6).flatmap(
    lambda size: st.dictionaries(
        st.sampled_from(LETTERS[:6]), st.lists(number, min_size=size, max_size=size), max_size=6
    ).map(lambda vectors: (size, vectors))
)
segment = st.lists(st.sampled_from(LETTERS), max_size=7)


def compared(references, systems, size, vectors, deepest=4, variable=False):
    """Similarities of lists of lists of words; the vectors are put into an order that means nothing."""
    segments = Segments(
        references=[joined([" ".join(words) for words in text]) for text in references],
        hypotheses=[joined([" ".join(words) for words in text]) for text in systems],
        variable_references=variable,
    )
    words = segments.words("none", "mixed")
    known = sorted(vectors, reverse=True)
    values = np.array([vectors[word] for word in known] or [[0.0] * size], np.float32)
    types = words.lines.decode().split("\n")[:-1]
    rows = np.array([known.index(word) if word in vectors else -1 for word in types], np.int32)
    return similarities(words, segments.reference_mask, len(systems), rows, values, deepest)


@settings(max_examples=300, deadline=None)
@given(vocabularies, st.lists(segment, min_size=1, max_size=3), st.lists(segment, min_size=1, max_size=3))
def test_equals_the_definition(vocabulary, references, systems):
    size, vectors = vocabulary
    found = compared([[text] for text in references], [[text] for text in systems], size, vectors)
    at = 0
    for number, words in enumerate(systems):
        for n in range(1, 5):
            expected = [best_similarity(ngram, references, vectors) for ngram in ngrams(words, n)]
            got = found.best[n - 1, at : at + len(words)]
            assert got[: len(expected)] / WHOLE == pytest.approx(expected, abs=1e-9)
            assert not got[len(expected) :].any()
        at += len(words)
        for r, reference in enumerate(references):
            for clamp in (True, False):
                got = found.distances[1 - clamp, r, number, 0] / EDIT
                assert got == pytest.approx(distance(words, reference, vectors, clamp), abs=1e-6)


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 40), st.lists(st.lists(segment, min_size=3, max_size=3), min_size=2, max_size=5),
    st.randoms(use_true_random=False), st.integers(1, 8),
)  # fmt: skip
def test_neither_other_systems_nor_other_segments_nor_their_order_change_a_bit(size, texts, random, deepest):
    """Vectors with all their digits: no sum is exact by chance."""
    numbers = np.random.default_rng(size)
    vectors = {letter: numbers.standard_normal(size).astype(np.float32) for letter in LETTERS[:7]}
    reference, *systems = texts
    together = compared([reference], systems, size, vectors, deepest)
    at = 0
    for number, system in enumerate(systems):
        for i, words in enumerate(system):
            alone = compared([[reference[i]]], [[words]], size, vectors, deepest)
            assert np.array_equal(together.best[:, at : at + len(words)], alone.best)
            assert np.array_equal(together.distances[:, :, number, i], alone.distances[:, :, 0, 0])
            at += len(words)
    order = random.sample(range(len(systems)), len(systems))
    other = compared([reference], [systems[i] for i in order], size, vectors, deepest)
    assert np.array_equal(other.distances, together.distances[:, :, order])


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 300])
def test_dot_products_are_added_in_one_order(size):
    """Four lanes over the numbers, then the sum of the lanes: checked to the last bit with Python's own sums."""
    numbers = np.random.default_rng(size)
    one, other = (numbers.standard_normal(size).astype(np.float32) for _ in range(2))

    def dot(a, b):
        lanes = [0.0] * 4
        for k, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
            lanes[k % 4] += x * y
        return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])

    cosine = dot(one, other) * (1 / dot(other, other) ** 0.5) * (1 / dot(one, one) ** 0.5)
    found = compared([[["a"]]], [[["b"]]], size, {"a": other, "b": one})
    assert found.best[0, 0] == max(0, int(cosine * WHOLE + 0.5))
    assert found.distances[1, 0, 0, 0] == int((1 - cosine) * EDIT + 0.5)


def test_the_same_words_in_another_order_are_wholly_similar():
    numbers = np.random.default_rng(5)
    vectors = {letter: numbers.standard_normal(300).astype(np.float32) for letter in "abcd"}
    found = compared([[list("abcd")]], [[list("dcba")]], 300, vectors)
    assert found.best[3].tolist() == [WHOLE, 0, 0, 0]


def test_vectors_that_cancel_have_no_direction():
    vectors = {"a": [1.0, 2.0], "b": [-1.0, -2.0], "c": [0.0, 0.0], "d": [1.0, 0.0]}
    found = compared([[list("dd")]], [[list("ab")]], 2, vectors)
    assert found.best[1].tolist() == [0, 0]
    found = compared([[["d"]]], [[["c"]]], 2, vectors)
    assert found.best[0].tolist() == [0]
    assert found.distances[0].item() == EDIT
    numbers = np.random.default_rng(5)
    three = {letter: numbers.standard_normal(20).astype(np.float32) for letter in "ab"}
    three["c"] = -(three["a"] + three["b"])  # but for the rounding to 32 bits
    three["d"] = numbers.standard_normal(20).astype(np.float32)
    assert compared([[list("ddd")]], [[list("abc")]], 20, three).best[2, 0] == 0


def test_several_references_systems_and_references_that_are_not_there():
    numbers = np.random.default_rng(3)
    vectors = {letter: numbers.standard_normal(9).astype(np.float32) for letter in LETTERS[:6]}
    draw = random.Random(3)
    references = [[draw.choices(LETTERS, k=draw.randint(1, 9)) for _ in range(5)] for _ in range(3)]
    references[1][2] = references[2][2] = references[2][0] = []
    systems = [[draw.choices(LETTERS, k=draw.randint(0, 9)) for _ in range(5)] for _ in range(2)]
    found = compared(references, systems, 9, vectors, variable=True)
    at = 0
    for number, system in enumerate(systems):
        for i, words in enumerate(system):
            there = [text[i] for text in references if text[i]]
            expected = [best_similarity((word,), there, vectors) for word in words]
            assert found.best[0, at : at + len(words)] / WHOLE == pytest.approx(expected, abs=1e-9)
            at += len(words)
            for r, text in enumerate(references):
                expected = distance(words, text[i], vectors) if text[i] else -1 / EDIT
                assert found.distances[0, r, number, i] / EDIT == pytest.approx(expected, abs=1e-6)


def pieces_of(words, pieces):
    return [words[p * len(words) // pieces : (p + 1) * len(words) // pieces] for p in range(pieces)]


@pytest.mark.parametrize(("m", "n"), [(1024, 1000), (1025, 300), (200, 1100), (2100, 1500)])
def test_long_segments_are_compared_piece_by_piece(m, n):
    """As documented: both are cut into pieces of even length, n-grams belong to where they begin, equal ones are found
    everywhere."""
    draw, numbers = random.Random(m), np.random.default_rng(m)
    names = [f"w{i}" for i in range(60)]
    vectors = {name: numbers.standard_normal(3).astype(np.float32) for name in names[:50]}
    hypothesis, reference = draw.choices(names[:-5], k=m), draw.choices(names[5:], k=n)
    (found,) = [compared([[reference]], [[hypothesis]], 3, vectors, 2)]
    pieces = -(-max(m, n) // 1024)
    parts = list(zip(pieces_of(hypothesis, pieces), pieces_of(reference, pieces), strict=True))
    whole = sum(compared([[b]], [[a]], 3, vectors).distances[0].item() for a, b in parts)
    assert found.distances[0].item() == whole
    everywhere = set(ngrams(reference, 2))
    at = before = 0
    for own, theirs in parts:
        likes = {tuple(reference[k : k + 2]) for k in range(before, min(before + len(theirs), n - 1))}
        for k in range(at, min(at + len(own), m - 1), 37):
            ngram = tuple(hypothesis[k : k + 2])
            expected = 1.0 if ngram in everywhere else best_similarity(ngram, list(likes), vectors)
            assert found.best[1, k] / WHOLE == pytest.approx(expected, abs=1e-9)
        at, before = at + len(own), before + len(theirs)


def test_many_systems_are_taken_in_groups():
    """More words than a group may have, and single systems that are long."""
    draw, numbers = random.Random(7), np.random.default_rng(7)
    names = [f"w{i}" for i in range(300)]
    vectors = {name: numbers.standard_normal(6).astype(np.float32) for name in names[:250]}
    reference = draw.choices(names, k=40)
    systems = [draw.choices(names, k=k) for k in [700, 900, 0, 1500, 1000, 800, 1024, 1, 1000, 600]]
    together = compared([[reference]], [[words] for words in systems], 6, vectors)
    at = 0
    for number, words in enumerate(systems):
        alone = compared([[reference]], [[words]], 6, vectors)
        assert np.array_equal(together.best[:, at : at + len(words)], alone.best)
        assert np.array_equal(together.distances[:, :, number], alone.distances[:, :, 0])
        at += len(words)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("hypothesis", "reference"),
    [
        (["a"] * 100_000, ["a"] * 99_000),
        (["a", "b"] * 20_000, ["b", "c", "x"] * 15_000),
        ([f"w{i}" for i in range(30_000)], [f"v{i}" for i in range(2)]),
        ([], ["a"] * 5_000),
        (["x"] * 50_000, []),
    ],
)
def test_hostile_segments(hypothesis, reference):
    vectors = {"a": [1.0, 0.0], "b": [0.5, 0.5], "c": [0.0, 1.0]}
    found = compared([[reference]], [[hypothesis]], 2, vectors, 16)
    assert (found.best >= 0).all()
    assert (found.best <= WHOLE).all()
    low, high = abs(len(hypothesis) - len(reference)), max(len(hypothesis), len(reference))
    assert low <= found.distances[0].item() / EDIT <= high


@pytest.mark.parametrize("value", [np.nan, np.inf, 3e38, 1e-45])
def test_numbers_that_are_not_finite_or_extreme_do_no_harm(value):
    """Vectors are checked when they are stored; a file that was changed later must not do more than give nonsense."""
    found = compared([[list("abc")]], [[list("cad")]], 2, {"a": [value, 1], "b": [1, value], "c": [value, value]})
    assert (found.best >= 0).all()
    assert (found.best <= WHOLE).all()
    assert (found.distances >= 0).all()
    assert (found.distances <= 6 * EDIT).all()


def test_running_out_of_memory_is_said(monkeypatch):
    monkeypatch.setattr(kernel("similarities"), "_function", lambda *_: -1)
    with pytest.raises(MemoryError):
        compared([[["a"]]], [[["b"]]], 1, {})
