"""Judgments put together by pair: the severity of annotators, and what is told of them."""

from itertools import chain, combinations_with_replacement, product
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.meta_evaluation.human.assessment_formats.assessment import Assessment
from steelyard.meta_evaluation.human.assessments import annotator_effects, assessed_pairs
from steelyard.meta_evaluation.human.table import BadTable


def judgment(system, segment, annotator, score):
    return Assessment("en-cs", system, "d", str(segment), "news", annotator, 0, score, 0.0, "file")


def test_effects_by_hand():
    """Eva gives 10 more than Jan at both places; Ota, who judged one system only, has no effect."""
    cells = [("eva", 0, 0, 60.0), ("jan", 1, 0, 50.0), ("eva", 1, 1, 80.0), ("jan", 0, 1, 70.0), ("ota", 2, 1, 75.0)]
    assert annotator_effects(cells) == {"eva": 5.0, "jan": -5.0}
    assert annotator_effects(cells[:1]) == {}
    assert annotator_effects([("", 0, 0, 1.0), ("", 1, 0, 2.0)]) == {}


def test_effects_are_their_definition():
    """All lists of up to three judgments by two people or nobody, of two systems at two places."""
    cells = list(product(("eva", "jan", ""), (0, 1), (0, 1), (0.0, 6.0)))
    for judged in chain.from_iterable(combinations_with_replacement(cells, size) for size in range(4)):
        several = {who for who, *_ in judged if who and len({system for name, system, *_ in judged if name == who}) > 1}
        expected = {}
        for who in several if len(several) > 1 else ():
            own = [(place, score) for name, _, place, score in judged if name == who]
            expected[who] = fmean(score - fmean(x for *_, at, x in judged if at == place) for place, score in own)
        assert annotator_effects(judged) == pytest.approx(expected), judged


def test_effects_of_several_who_judged_one_system_and_of_one_who_judged_two():
    """Nobody to compare Eva's severity with: that of the others may be their systems'."""
    cells = [("eva", 0, 0, 60.0), ("eva", 1, 1, 80.0), ("jan", 1, 0, 50.0), ("ota", 2, 1, 75.0)]
    assert annotator_effects(cells) == {}
    assert annotator_effects([*cells, ("jan", 0, 1, 70.0)]) != {}


@pytest.mark.parametrize(("alike", "refused"), [(2, True), (1, False)])
def test_a_file_that_is_mostly_a_part_of_another_is_refused(alike, refused):
    large = [judgment("x", segment, "eva", 60 + segment) for segment in range(6)]
    small = [each._replace(file="part", wave=1) for each in (*large[:alike], judgment("x", 8, "eva", 3))]
    if not refused:
        assert assessed_pairs([*large, *small])
        return
    with pytest.raises(BadTable, match=r"^file, part: hold the same judgments of en-cs \(2 alike\)\. Give one"):
        assessed_pairs([*large, *small])


def test_scores_less_effects():
    rows = [judgment("x", 0, "eva", 60), judgment("y", 0, "jan", 50), judgment("y", 1, "eva", 80),
            judgment("x", 1, "jan", 70)]  # fmt: skip
    (pair,) = assessed_pairs(rows)
    assert pair.scores.tolist() == [[60, 70], [50, 80]]
    assert pair.adjusted.tolist() == [[55, 75], [55, 75]]
    (alone,) = assessed_pairs([judgment("x", 0, "eva", 60), judgment("y", 0, "eva", 50)])
    assert alone.adjusted is None


@given(st.integers(0, 10**6))
def test_exchanging_two_systems_with_their_annotators_changes_no_effect(seed):
    """So a test by exchanges is as right with scores less effects as with scores."""
    draws = np.random.default_rng(seed)
    cells = [
        (f"a{draws.integers(4)}", system, place, float(draws.integers(0, 101)))
        for place in range(6)
        for system in range(3)
        if draws.random() < 0.9
    ]
    swapped = {place for place in range(6) if draws.random() < 0.5}
    other = {0: 1, 1: 0, 2: 2}
    exchanged = [(a, other[system] if place in swapped else system, place, x) for a, system, place, x in cells]
    before, after = annotator_effects(cells), annotator_effects(exchanged)
    for name in before.keys() & after.keys():
        assert before[name] == pytest.approx(after[name], abs=1e-9)


def test_annotators_with_one_judgment_are_named():
    rows = [judgment("x", 0, "eva", 60), judgment("y", 0, "eva", 50), judgment("x", 1, "ota", 1)]
    (pair,) = assessed_pairs(rows)
    assert pair.notices == ("en-cs: 1 annotator gave one judgment only: ota.",)
