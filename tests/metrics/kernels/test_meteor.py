"""Meteor's links against trying every set of links, and within bounds on any input."""

from __future__ import annotations

import random
import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.kernels.meteor import Keys, links
from tests.metrics.meteor_definition import best_of_module, chunks, crosses

STEPS = 10**6


def linked(hypothesis, reference, modules, steps=STEPS):
    """Counts and links for one segment; a module is (keys of hypothesis, keys of reference, sets of groups or None)."""
    starts = np.array([0, len(reference), len(reference) + len(hypothesis)])
    keys = []
    for own, others, sets in modules:
        lists = None
        if sets is not None:
            begin = np.cumsum([0, *map(len, sets)])
            lists = begin, np.array([group for each in sets for group in sorted(each)], np.int32)
        keys.append(Keys(np.array([*others, *own], np.int32), lists))
    found = links(starts, np.ones((1, 1), np.uint8), 1, keys, steps)
    return found.counts[0, 0, 0].tolist(), [(i, j) for i, j in enumerate(found.partners[0].tolist()) if j >= 0]


@st.composite
def segments(draw):
    """Two short segments and three modules in any order: forms, lemmas (some words have none), groups."""
    letters = st.integers(0, draw(st.integers(1, 3)))
    hypothesis, reference = (draw(st.lists(letters, max_size=draw(st.integers(0, 6)))) for _ in "hr")

    def for_each(values):
        return tuple([draw(values) for _ in words] for words in (hypothesis, reference))

    sets = draw(st.lists(st.sets(st.integers(0, 3), max_size=2), min_size=3, max_size=5))
    modules = [
        (hypothesis, reference, None),
        (*for_each(st.integers(-1, 1)), None),
        (*for_each(st.integers(0, len(sets) - 1)), sets),
    ]
    return hypothesis, reference, draw(st.permutations(modules))


@settings(max_examples=400, deadline=None)
@given(segments())
def test_each_module_does_the_best_it_can(drawn):
    hypothesis, reference, modules = drawn
    before = []
    for count, (own, others, sets) in enumerate(modules, 1):

        def may_link(a, b, sets=sets):
            return bool(sets[a] & sets[b]) if sets is not None else a == b >= 0

        counts, after = linked(hypothesis, reference, modules[:count])
        more = [link for link in after if link not in before]
        assert [link for link in before if link in after] == before, "links of earlier modules stay"
        assert all(may_link(own[i], others[j]) for i, j in more)
        assert len({j for _, j in after}) == len(after)
        expected = best_of_module(before, own, others, may_link)
        assert (len(more), crosses(after), chunks(set(after))) == expected
        assert counts[count - 1 :] == [len(more), expected[2], 0]
        before = after


@pytest.mark.parametrize(
    ("hypothesis", "reference", "places"),
    [
        ("abc", "cab", [(0, 1), (1, 2), (2, 0)]),  # one way only, with two crosses
        ("ab", "bab", [(0, 1), (1, 2)]),  # the later b: no cross
        ("ab", "axab", [(0, 2), (1, 3)]),  # no cross either way; one chunk
        ("aab", "abab", [(0, 0), (1, 2), (2, 3)]),
        ("aa", "aaa", [(0, 0), (1, 1)]),  # side by side
    ],
)
def test_links_of_single_segments(hypothesis, reference, places):
    own, others = ([ord(letter) for letter in text] for text in (hypothesis, reference))
    assert linked(own, others, [(own, others, None)])[1] == places


def test_a_synonym_of_a_synonym_is_none():
    sets = [{0}, {0, 1}, {1}]  # shore, bank, loan office
    assert linked("s", "l", [([0], [2], sets)])[0] == [0, 0, 0]
    assert linked("sb", "bl", [([0, 1], [1, 2], sets)]) == ([2, 1, 0], [(0, 0), (1, 1)])


def test_a_search_that_is_cut_short_says_so():
    own, others = [0, 1, 0, 2, 0], [0, 0, 2, 1, 0, 0, 1]
    exact, _ = linked(own, others, [(own, others, None)])
    cut, _ = linked(own, others, [(own, others, None)], steps=1)
    assert exact[-1] == 0
    assert cut[-1] == 1
    assert cut[0] == exact[0]
    # Where there is but one way nothing is searched.
    assert linked([0, 1, 1], [1, 0, 1], [([0, 1, 1], [1, 0, 1], None)], steps=0)[0] == [3, 3, 0]


@pytest.mark.parametrize("words", [60, 600, 6_000, 60_000])
@pytest.mark.parametrize("distinct", [1, 2, 30, 3_000])
def test_long_and_repetitive_segments_end_quickly(words, distinct):
    generator = random.Random(words * distinct)
    own, others = ([generator.randrange(distinct) for _ in range(count)] for count in (words, words * 3 // 4))
    sets = [set(generator.sample(range(40), 5)) for _ in range(distinct)]
    start = time.process_time()
    counts, found = linked(own, others, [(own, others, None), (own, others, sets)])
    assert time.process_time() - start < 2
    assert counts[0] == (Counter(own) & Counter(others)).total()
    assert len(found) == sum(counts[:2]) <= len(others)
    assert len({j for _, j in found}) == len(found)


def test_one_word_many_times_is_one_chunk():
    for many, few in ((300, 150), (3_000, 2_990), (3_000, 30)):
        assert linked([0] * many, [0] * few, [([0] * many, [0] * few, None)])[0][:2] == [few, 1]
