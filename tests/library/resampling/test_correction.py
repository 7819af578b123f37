from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from steelyard.errors import BadParameter
from steelyard.resampling.correction import CORRECTIONS, corrected
from steelyard.resampling.draws_needed import smallest_p

p_values = st.lists(st.floats(0, 1), max_size=12)


def test_holm_by_hand():
    """0.01 x 4, 0.02 x 3, 0.03 x 2, 0.04 x 1; none below the one before it."""
    assert corrected([0.03, 0.01, 0.04, 0.02], "holm") == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert corrected([0.5, 0.4, 0.9], "holm").tolist() == [1, 1, 1]


def test_benjamini_and_hochberg_by_hand():
    """0.01 x 4 / 1, 0.02 x 4 / 2, 0.03 x 4 / 3, 0.5 x 4 / 4; none above the one after it."""
    assert corrected([0.5, 0.03, 0.01, 0.02], "bh") == pytest.approx([0.5, 0.04, 0.04, 0.04])
    # Their own example of 15 tests (Benjamini and Hochberg 1995): four are found at 0.05.
    paper = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528]
    paper += [0.7590, 1.0]
    assert (corrected(paper, "bh") <= 0.05).tolist() == [True] * 4 + [False] * 11
    assert (corrected(paper, "holm") <= 0.05).tolist() == [True] * 3 + [False] * 12


@given(p_values)
def test_benjamini_and_hochberg_equal_scipy(values):
    assert corrected(values, "bh") == pytest.approx(false_discovery_control(values) if values else [], rel=1e-12)


@given(p_values, st.floats(0.001, 0.5))
def test_holm_is_the_step_down_procedure(values, alpha):
    """Reject the smallest while p_(i) <= alpha / (m - i), then stop."""
    rejected = set()
    for step, position in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        margin = Fraction(values[position]) * (len(values) - step) - Fraction(alpha)
        if abs(margin) < 1e-12:
            return
        if margin > 0:
            break
        rejected.add(position)
    assert {i for i, p in enumerate(corrected(values, "holm")) if p <= alpha} == rejected


@given(p_values, st.sampled_from(CORRECTIONS))
def test_laws(values, method):
    found = corrected(values, method)
    assert ((found >= values) & (found <= 1)).all()
    order = np.argsort(values, kind="stable")
    assert (np.diff(found[order]) >= 0).all()
    assert corrected(values[::-1], method)[::-1] == pytest.approx(found)


def test_undefined_tests_do_not_count():
    found = corrected([math.nan, 0.02, 0.03], "holm")
    assert math.isnan(found[0])
    assert found[1:].tolist() == [0.04, 0.04]
    assert corrected([0.3, math.nan, 0.2], "none")[::2].tolist() == [0.3, 0.2]
    for method in CORRECTIONS:
        assert np.isnan(corrected([math.nan], method)).all()
        assert corrected([], method).shape == (0,)


@given(st.lists(st.one_of(st.floats(0, 1), st.just(math.nan)), max_size=12), st.sampled_from(CORRECTIONS))
def test_undefined_tests_might_as_well_not_be_there(values, method):
    found, known = corrected(values, method), ~np.isnan(values)
    assert np.isnan(found[~known]).all()
    assert found[known].tobytes() == corrected(np.array(values)[known], method).tobytes()


def test_no_such_correction():
    with pytest.raises(BadParameter, match=r"no correction \"bonferroni\".*holm, bh, none"):
        corrected([0.1], "bonferroni")


@pytest.mark.parametrize("method", CORRECTIONS)
def test_smallest_p_that_can_come_out(method):
    """One pair as clear as can be, the others not at all."""
    replicates, pairs = 1000, 45
    best = corrected([1 / (replicates + 1)] + [1.0] * (pairs - 1), method)[0]
    all_best = corrected([1 / (replicates + 1)] * pairs, method)[0]
    assert smallest_p(replicates, pairs, method) == pytest.approx(min(best, all_best))
    assert smallest_p(10, 45, "holm") == 1
