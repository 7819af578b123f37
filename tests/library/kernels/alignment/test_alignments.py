from __future__ import annotations

import random
from fractions import Fraction
from math import lcm

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.kernels.alignment.alignments import alignments
from steelyard.metrics.segments import Segments
from tests.library.metrics.alignment.tbleu_definition import affix_distance, alignment


def aligned(hypothesis, reference):
    """The matched reference words and their distances, for one segment."""
    segments = Segments(references=[" ".join(reference).encode()], hypotheses=[" ".join(hypothesis).encode()])
    words = segments.words("none", "mixed")
    found = alignments(words, segments.reference_mask, 1)
    types = words.lines.decode().split("\n")
    return [None if word < 0 else types[word] for word in found.words[0].tolist()], found.distances[0].tolist()


def distances_of(pairs):
    """One pair of words in each segment."""
    segments = Segments(
        references=["\n".join(b for _, b in pairs).encode()], hypotheses=["\n".join(a for a, _ in pairs).encode()]
    )
    return alignments(segments.words("none", "mixed"), segments.reference_mask, 1).distances[0].tolist()


def word(letters, longest):
    return st.text(letters, min_size=1, max_size=longest)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_affix_distances_equal_the_definition(data):
    words = word(data.draw(st.sampled_from(["ab", "abc", "aáč🙂漢"])), data.draw(st.sampled_from([4, 9, 16])))
    pairs = data.draw(st.lists(st.tuples(words, words), min_size=1, max_size=15))
    kept = st.tuples(words, words, words, words, words).map(lambda w: (w[0] + w[1] + w[2], w[3] + w[1] + w[4]))
    pairs += data.draw(st.lists(kept, max_size=15))
    expected = [affix_distance(a, b) for a, b in pairs]
    assert distances_of(pairs) == [d.numerator / d.denominator for d in expected]
    assert distances_of([(b, a) for a, b in pairs]) == distances_of(pairs)


@pytest.mark.parametrize(
    ("a", "b", "distance"),
    [
        ("vzpomenou", "zapomenout", 3 / 7),  # the paper's example: pomenou, vz/za and nothing/t
        ("červeném", "červeným", 1 / 6),
        ("auto", "autem", 2 / 3),
        ("a", "b", 1),
        ("ab", "ba", 1),
        ("abc", "abd", 1 / 2),
        ("aa", "aaa", 1 / 2),
        ("abxab", "ab", 1),
        ("xabyabz", "abz", 1),
        # "ab" is twice in one word: the place with fewer edits counts.
        ("abcd" + "x" + "abcd", "abcdx" + "yabcd", 1 / 5),
        ("x" * 255, "x" * 254, 1 / 254),
        ("x" * 256, "x" * 255, 1),  # too long to be looked into
        ("x" * 300, "x" * 300, 0),
    ],
)
def test_single_distances(a, b, distance):
    assert distances_of([(a, b), (b, a)]) == [distance] * 2


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_equals_the_best_of_all_pairings(data):
    text = st.lists(word(data.draw(st.sampled_from(["a", "ab", "abcd"])), 5), max_size=6)
    hypothesis, reference = data.draw(text), data.draw(text)
    places = alignment(tuple(hypothesis), tuple(reference))
    expected = [None if j is None else reference[j] for j in places]
    paired = [Fraction(1) if b is None else affix_distance(a, b) for a, b in zip(hypothesis, expected, strict=True)]
    assert aligned(hypothesis, reference) == (expected, [d.numerator / d.denominator for d in paired])


def test_the_whole_is_cheaper_than_identical_words_first():
    """The word that is there twice leaves its copy so that the others find partners."""
    hypothesis, reference = ["abcdef", "abcdeg"], ["abcdeg", "xbcdeg"]
    assert alignment(tuple(hypothesis), tuple(reference)) == [0, 1]
    assert aligned(hypothesis, reference) == (reference, [1 / 5, 1 / 5])


def cheapest(costs):
    """The columns of a cheapest pairing, by an independent program; costs are integers that floats hold exactly."""
    optimize = pytest.importorskip("scipy.optimize")
    return optimize.linear_sum_assignment(costs)[1]


def definition_of_long(hypothesis, reference):
    """The reference words, as `alignment`; ties are resolved by taking lower columns away from one row at a time."""
    m, n = len(hypothesis), len(reference)
    costs = np.zeros((max(m, n), max(m, n)), np.int64)
    distances = [[affix_distance(a, b) for b in reference] for a in hypothesis]
    unit = lcm(*{d.denominator for row in distances for d in row})
    costs[:m, :n] = [
        [int(d * unit) * max(m, n) ** 2 + abs(i - j) for j, d in enumerate(row)] for i, row in enumerate(distances)
    ]
    assert costs.max() * len(costs) < 2**52
    never, places = 2**52 // len(costs), cheapest(costs)
    total = costs[range(len(costs)), places].sum()
    for i in range(m):
        for j in range(places[i]):
            forced = costs.copy()
            forced[i, :j] = never
            forced[i, j + 1 :] = never
            other = cheapest(forced)
            if forced[range(len(costs)), other].sum() == total:
                places = other
                break
        costs[i, : places[i]] = costs[i, places[i] + 1 :] = never
    return [reference[j] if j < n else None for j in places[:m]]


@pytest.mark.parametrize(("m", "n"), [(66, 66), (68, 40), (30, 70), (5, 12), (12, 5)])
@pytest.mark.parametrize("letters", ["ab", "abc"])
def test_long_segments_equal_an_independent_program(m, n, letters):
    draw = random.Random(f"{m} {n} {letters}")
    hypothesis, reference = (["".join(draw.choices(letters, k=draw.randint(1, 4))) for _ in range(k)] for k in (m, n))
    expected = definition_of_long(hypothesis, reference)
    matched, distances = aligned(hypothesis, reference)
    assert matched == expected
    paired = [1 if b is None else affix_distance(a, b) for a, b in zip(hypothesis, matched, strict=True)]
    assert distances == [float(d) for d in paired]


def test_several_references_systems_and_references_that_are_not_there():
    references = [["ab cde", "x", ""], ["abc", "", "fgh"]]
    systems = [["abd", "x y", "fgi fgh"], ["cdf abc", "y x", ""]]
    segments = Segments(
        references=["\n".join(t).encode() for t in references],
        hypotheses=["\n".join(t).encode() for t in systems],
        variable_references=True,
    )
    words = segments.words("none", "mixed")
    found = alignments(words, segments.reference_mask, 2)
    at = 0
    for system in systems:
        for i, line in enumerate(system):
            for r, reference in enumerate(references):
                size = len(line.split())
                expected = [None] * size, [1.0] * size
                if reference[i]:
                    expected = aligned(line.split(), reference[i].split())
                types = words.lines.decode().split("\n")
                got = [None if w < 0 else types[w] for w in found.words[r, at : at + size].tolist()]
                assert (got, found.distances[r, at : at + size].tolist()) == expected
            at += len(line.split())
    assert at == found.words.shape[1]


def test_systems_share_what_is_known_of_their_words():
    """More different words than costs are kept of, a word that comes again, and references of equal length."""
    draw = random.Random(3)
    references = [["".join(draw.choices("abcd", k=5)) for _ in range(60)] for _ in range(2)]
    systems = [["".join(draw.choices("abcd", k=5)) for _ in range(100)] for _ in range(5)]
    systems += [systems[0], references[0]]
    segments = Segments(
        references=[" ".join(words).encode() for words in references],
        hypotheses=[" ".join(words).encode() for words in systems],
    )
    words = segments.words("none", "mixed")
    found = alignments(words, segments.reference_mask, len(systems))
    types = words.lines.decode().split("\n")
    for r, reference in enumerate(references):
        expected = [aligned(system, reference) for system in systems]
        got = [None if word < 0 else types[word] for word in found.words[r].tolist()]
        assert got == [word for matched, _ in expected for word in matched]
        assert found.distances[r].tolist() == [distance for _, distances in expected for distance in distances]


def test_very_long_segments_are_aligned_piece_by_piece():
    draw = random.Random(5)
    reference = ["".join(draw.choices("abc", k=4)) for _ in range(1500)]
    matched, distances = aligned(reference, reference)
    assert matched == reference
    assert not any(distances)
    whole = [*reference[:500], *reference[500:1000][::-1], *reference[1000:]]
    matched, distances = aligned(whole, reference)
    assert sorted(matched) == sorted(reference)
    assert not any(distances)


@pytest.mark.parametrize(
    ("hypothesis", "reference"),
    [
        (["a"] * 100_000, ["a"] * 99_000),
        (["ab", "ba"] * 10_000, ["abc", "bac", "cab"] * 7_000),
        (["long"] * 50_000, ["x" * 20_000]),
        ([], ["a"] * 10),
        (["a"] * 10, []),
    ],
)
def test_hostile_segments(hypothesis, reference):
    matched, distances = aligned(hypothesis, reference)
    assert len(distances) == len(hypothesis)
    assert sum(word is not None for word in matched) == min(len(hypothesis), len(reference))
    assert all(0 <= distance <= 1 for distance in distances)
