"""Influence of segments: against the scores of test sets without them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard import BLEU, TER
from steelyard.inspection.influential_segments import influential_segments
from steelyard.metrics.without_texts.imported import Imported

METRICS = {"bleu": BLEU(order=[1], tok="none"), "ter": TER()}


def statistics(metric, runs, segments, seed):
    """Integers that any text could have, (runs, segments, k)."""
    drawn = np.random.default_rng(seed).integers(1, 9, (runs, segments, len(metric.columns))).astype(np.float64)
    if metric.name == "bleu":
        drawn[..., 2] = np.minimum(drawn[..., 2], drawn[..., 3])
    return drawn


def corpus_score(metric, of_runs):
    return float(np.mean([metric.score(each.sum(axis=0)) for each in of_runs]))


@pytest.mark.parametrize("name", METRICS)
@given(runs=st.tuples(st.integers(1, 3), st.integers(1, 3)), seed=st.integers(0, 999), most=st.integers(1, 6))
def test_influence_is_the_difference_that_a_segment_makes(name, runs, seed, most):
    metric = METRICS[name]
    first, second = (statistics(metric, count, 5, seed + place) for place, count in enumerate(runs))
    found = influential_segments(metric, first, second, most)
    whole = corpus_score(metric, second) - corpus_score(metric, first)
    assert found.difference == pytest.approx(whole)
    sign = 1 if metric.higher_is_better else -1
    for side, shown in ((-sign, found.for_first), (sign, found.for_second)):
        strengths = [side * each.influence for each in shown]
        assert all(strength > 0 for strength in strengths)
        assert strengths == sorted(strengths, reverse=True)
        assert len(shown) <= most
        for each in shown:
            kept = np.arange(5) != each.segment
            without = corpus_score(metric, second[:, kept]) - corpus_score(metric, first[:, kept])
            assert each.influence == pytest.approx(whole - without)
            assert each.first == pytest.approx(np.mean(metric.segment_score(first[:, each.segment])))


def test_equal_outputs_have_no_influential_segments():
    same = statistics(METRICS["bleu"], 1, 4, 1)
    found = influential_segments(METRICS["bleu"], same, same, 3)
    assert (found.difference, found.for_first, found.for_second, found.identical) == (0.0, (), (), 4)


def test_runs_that_differ_in_number_have_no_identical_segments():
    one, two = (statistics(METRICS["ter"], runs, 4, 1) for runs in (1, 2))
    assert influential_segments(METRICS["ter"], one, two, 3).identical == 0


@pytest.mark.parametrize("undefined", [0, 1])
def test_a_system_without_a_score_has_no_influential_segments(undefined):
    metric = Imported(metric="COMET")
    pair = [np.array([[[0.5, 1.0], [0.25 * seed, 1.0]]]) for seed in (1, 2)]
    found = influential_segments(metric, *pair, 3)
    assert found is not None
    assert (found.difference, found.identical) == (0.125, 1)
    pair[undefined] = np.zeros((1, 2, 2))
    assert influential_segments(metric, *pair, 3) is None
