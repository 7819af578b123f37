"""Matched n-grams of a segment and what they say, against counting them one by one."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard import BLEU, NIST
from steelyard.metrics.needed_statistics import states_of
from steelyard.metrics.segments import Segments
from tests.library.metrics.ngram.nist_definition import information, ngrams

# Of the references' words together: up to 64, 128 and 256 are looked up in masks of bits, more in a trie.
LENGTHS = st.sampled_from([0, 1, 2, 9, 31, 32, 63, 64, 65, 85, 127, 128, 129, 255, 256, 257, 400])
ORDERS = st.sampled_from([(1, 2, 3, 4), (1, 2, 3, 4, 5), (1,), (2, 4), (3, 16)])


@st.composite
def segments(draw):
    """Token lists of hypotheses and of references; of few words, they repeat much."""
    random = Random(draw(st.integers(0, 2**32)))
    words = [str(word) for word in range(draw(st.sampled_from([1, 2, 4, 40])))]

    def text(most):
        return [random.choice(words) for _ in range(most)]

    references = [text(draw(LENGTHS)) for _ in range(draw(st.integers(1, 4)))]
    longest = max(references, key=len)
    copied = [word if random.random() < 0.8 else random.choice(words) for word in longest]
    return [text(draw(LENGTHS)), copied], references


def clipped(hypothesis, references, order):
    """How often each matched n-gram counts."""
    theirs = [Counter(ngrams(reference, order)) for reference in references]
    mine = Counter(ngrams(hypothesis, order))
    return {gram: min(count, max(each[gram] for each in theirs)) for gram, count in mine.items()}


def batch_of(rows):
    """The segments in turn; one that has fewer references lacks them."""
    texts = [
        "\n".join(" ".join(each[side][place]) if place < len(each[side]) else "" for each in rows).encode()
        for side, most in ((1, 4), (0, 2))
        for place in range(most)
    ]
    return Segments(references=texts[:4], hypotheses=texts[4:], variable_references=True)


present = st.lists(segments().filter(lambda each: any(each[1])), min_size=1, max_size=3)


@settings(max_examples=100, deadline=None)
@given(present, ORDERS)
def test_matches_equal_the_definition(rows, orders):
    found = BLEU(order=orders, tok="none").segment_statistics(batch_of(rows))
    for place, (hypotheses, references) in enumerate(rows):
        references = [each for each in references if each]
        for hypothesis, statistics in zip(hypotheses, found[:, place].tolist(), strict=True):
            closest = min((abs(len(each) - len(hypothesis)), len(each)) for each in references)[1]
            matches = [sum(clipped(hypothesis, references, order).values()) for order in orders]
            totals = [max(len(hypothesis) - order + 1, 0) for order in orders]
            assert statistics == [len(hypothesis), closest, *matches, *totals]


@settings(max_examples=100, deadline=None)
@given(present, ORDERS)
def test_information_equals_the_definition(rows, orders):
    metric, segments = NIST(order=orders, tok="none"), batch_of(rows)
    segments.states = states_of([metric], segments)
    weights = information([each for _, references in rows for each in references], orders[-1])
    found = metric.segment_statistics(segments)[..., 3 : 3 + len(orders)]
    for place, (hypotheses, references) in enumerate(rows):
        for hypothesis, statistics in zip(hypotheses, found[:, place].tolist(), strict=True):
            sums = [
                sum(count * weights[gram] for gram, count in clipped(hypothesis, references, order).items() if count)
                for order in orders
            ]
            assert statistics == pytest.approx(sums, abs=1e-6)
    assert found.tobytes() == through_bytes(metric, segments)[..., 3 : 3 + len(orders)].tobytes()


def through_bytes(metric, segments):
    """Statistics by the state as it is stored, which leaves out what says nothing and has the words sorted."""
    way = metric.corpus_statistics
    state = way.read(way.merge([way.count(segments)]))
    return metric.segment_statistics(
        Segments(
            references=segments.references,
            hypotheses=segments.hypotheses,
            variable_references=True,
            states={way.key: state},
        )
    )
