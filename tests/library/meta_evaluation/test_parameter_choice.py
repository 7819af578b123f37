"""Metrics chosen by human judgments, on arrays made by hand."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from steelyard.meta_evaluation.parameter_choice import best_choice, cross_fit, document_folds, gains_over


def test_the_best_is_the_first_of_equal_ones():
    assert best_choice(np.array([0.1, 0.4, 0.4])) == 1
    assert best_choice(np.array([math.nan, -0.4, -0.3])) == 2
    assert best_choice(np.array([math.nan, math.nan])) is None


def test_a_gain_has_the_interval_of_the_difference():
    replicates = np.array([[0.5, 0.6], [0.25, 0.125]])
    first, itself = gains_over(np.array([0.75, 0.5]), replicates, 0, [1, 0], 0.95)
    assert (first.difference, first.interval) == (0.25, (0.25, 0.475))
    assert (itself.difference, itself.interval) == (0.0, (0.0, 0.0))
    (bare,) = gains_over(np.array([0.75, 0.5]), np.zeros((2, 0)), 0, [1], 0.95)
    assert bare.interval is None


def mean(scores):
    return float(np.nanmean(scores))


def test_each_fold_is_scored_with_the_choice_of_the_others():
    """The first candidate is better in the second half, the other in the first: each is chosen where it is not used."""
    first, second, rival = np.array([[0.0, 0, 4, 4]]), np.array([[3.0, 3, 0, 0]]), np.array([[1.0, 1, 1, 1]])
    scores = np.stack([first, second, rival])
    found = cross_fit(scores, 2, [2], [[(0, 2)], [(2, 2)]], mean, lambda each: np.array([mean(each)] * 3), 0.9)
    assert (found.values, found.documents, found.observed) == ((0, 1), (1, 1), 0.0)
    assert [(gain.difference, gain.interval) for gain in found.gains] == [(-1.0, (-1.0, -1.0))]


def test_a_rival_is_compared_on_the_segments_of_the_folds():
    """What no fold has is left out of both."""
    scores = np.array([[[2.0, 2, 9, 2, 2]], [[1.0, 1, -9, 1, 1]]])
    found = cross_fit(scores, 1, [1], [[(0, 2)], [(3, 2)]], mean, lambda each: np.array([mean(each)] * 3), 0.9)
    assert [(gain.difference, gain.interval) for gain in found.gains] == [(1.0, (1.0, 1.0))]


def test_without_folds_or_a_defined_statistic_nothing_is_chosen():
    scores = np.ones((2, 1, 4))
    assert cross_fit(scores, 2, [], [], mean, mean, 0.9) is None
    assert cross_fit(scores, 2, [], [[(0, 2)], [(2, 2)]], lambda _: math.nan, mean, 0.9) is None


@given(st.lists(st.integers(1, 4), max_size=12), st.integers(2, 6), st.data())
def test_every_judged_document_is_in_one_fold(lengths, folds, data):
    ends = np.cumsum([0, *lengths])
    documents = [(int(first), length) for first, length in zip(ends, lengths, strict=False)]
    seen = np.array(data.draw(st.lists(st.booleans(), min_size=int(ends[-1]), max_size=int(ends[-1]))), np.bool_)
    dealt = document_folds(documents, seen, folds)
    with_judgments = [(first, count) for first, count in documents if seen[first : first + count].any()]
    if len(with_judgments) < 2:
        assert dealt == []
        return
    assert sorted(document for fold in dealt for document in fold) == with_judgments
    sizes = [len(fold) for fold in dealt]
    assert len(dealt) == min(folds, len(with_judgments))
    assert max(sizes) - min(sizes) <= 1
