"""Meteor's links against trying every set of links, and within bounds on any input."""

from __future__ import annotations

import random
import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.kernels.alignment.meteor import Keys, links
from tests.library.metrics.alignment.meteor_definition import best_of_module, chunks, crosses

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


few = st.integers(0, 9)


@settings(max_examples=400, deadline=None)
@given(st.lists(few, min_size=5, max_size=11), st.lists(few, min_size=5, max_size=11))
def test_repeated_words_are_linked_as_well_as_can_be(hypothesis, reference):
    for limit in (10, 6, 5):
        own, others = ([word % limit for word in words] for words in (hypothesis, reference))
        # Trying everything takes too long where words are repeated often.
        if max(map(others.count, own), default=0) * max(map(own.count, others), default=0) > 6:
            return
        counts, found = linked(own, others, [(own, others, None)])
        expected = best_of_module([], own, others, int.__eq__)
        assert (len(found), crosses(found), chunks(set(found))) == expected
        assert counts == [expected[0], expected[2], 0]


few_groups = st.lists(st.sets(st.integers(0, 4), max_size=2), min_size=7, max_size=7)


@settings(max_examples=600, deadline=None)
@given(few_groups, few_groups, st.integers(0, 7), st.integers(0, 7))
def test_synonyms_are_linked_as_well_as_can_be(one, other, words, others):
    """Each word has groups of its own: what hangs together is rarely all alike."""
    sets = [*one[:words], *other[:others]]
    keys = list(range(words)), list(range(words, words + others))
    counts, found = linked(*keys, [(*keys, sets)])
    expected = best_of_module([], *keys, lambda a, b: bool(sets[a] & sets[b]))
    assert (len(found), crosses(found), chunks(set(found))) == expected
    assert counts == [expected[0], expected[2], 0]


@pytest.mark.parametrize(
    ("hypothesis", "reference"),
    [([0, 2, 0, 2, 2, 0], [0, 2, 2, 0]), ([2, 0, 3, 2, 1, 1], [3, 2, 0, 0, 2, 0, 3, 0, 0, 3, 0, 2, 1, 3])],
)
def test_repeated_words_that_need_the_search(hypothesis, reference):
    """Linking one word after the other ends with too many chunks; found by chance."""
    counts, found = linked(hypothesis, reference, [(hypothesis, reference, None)])
    expected = best_of_module([], hypothesis, reference, int.__eq__)
    assert (len(found), crosses(found), counts[1]) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # One word too many, so that one stays without a link: not two, though that would save a cross.
        ([{2, 3}, {1, 2}, {0, 1}, {3}], [{3}, {0}, {2}]),
        ([{1, 3}, {3}, {2}, {0}, {3}], [{0, 3}, {0}, {2}]),
        # Chunks alone tell which.
        ([{1, 5}, set(), {5}, {5}, {4}], [{0}, {1, 2}, {1}, {5}, {3, 4}, {4}]),
    ],
)
def test_synonyms_that_need_the_search(one, other):
    keys = list(range(len(one))), list(range(len(one), len(one) + len(other)))
    counts, found = linked(*keys, [(*keys, [*one, *other])])
    expected = best_of_module([], *keys, lambda a, b: bool([*one, *other][a] & [*one, *other][b]))
    assert (len(found), crosses(found), counts[1]) == expected


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


def test_how_many_steps_a_search_takes_is_part_of_the_numbers():
    """Scores that are cut short depend on it: another count is another edition."""
    sets = [{0}, {0, 1}, {1}, {2}, {2, 3}, {3}]
    own, others = [0, 1, 3, 4, 1, 5, 2], [1, 2, 0, 5, 4, 3, 1]
    found = [linked(own, others, [(own, others, sets)], steps=steps)[0] for steps in (1038, 1039)]
    assert found[0][-1] == 1
    assert found[1] == [7, 4, 0]


@pytest.mark.parametrize(
    ("steps", "found"),
    [(0, []), (5, []), (6, [(0, 0)]), (8, [(0, 0)]), (9, [(0, 0), (1, 1)])],
)
def test_where_the_steps_end_no_more_words_are_collected(steps, found):
    """Two edges take a step each, and each word four and three for the words that may hang together with it."""
    words, sets = [0, 1], [{0}, {1}]
    counts, partners = linked(words, words, [(words, words, sets)], steps=steps)
    assert partners == found
    assert counts == [len(found), bool(found), len(found) < 2]


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
