"""Regressions, against the tests that they stand on."""

import math

import numpy as np
import pytest

from steelyard.resampling.best_of import bootstrap_best_p
from steelyard.resampling.bootstrap_p import bootstrap_p
from steelyard.resampling.regression import Outcome, outcome_of, regression_p

DRAWS = np.random.default_rng(2).normal(size=(4, 300))


@pytest.mark.parametrize("higher", [True, False])
def test_one_baseline_is_a_paired_test(higher):
    for score in (0.5, -0.5):
        found = regression_p(score, DRAWS[0], np.array([0.0]), DRAWS[1:2], higher_is_better=higher)
        assert found == bootstrap_p(score, DRAWS[0] - DRAWS[1])


def test_the_best_of_several_was_chosen_for_its_score():
    scores = np.array([0.1, 1.5, 1.5])
    found = regression_p(0.0, DRAWS[0], scores, DRAWS[1:])
    assert found == bootstrap_best_p(scores, DRAWS[1:] - DRAWS[0])
    turned = regression_p(0.0, DRAWS[0], -scores, DRAWS[1:], higher_is_better=False)
    assert turned == bootstrap_best_p(scores, DRAWS[0] - DRAWS[1:])


def test_a_better_system_is_tested_against_the_best_alone():
    """The first of those that are equal."""
    found = regression_p(2.0, DRAWS[0], np.array([0.1, 1.5, 1.5]), DRAWS[1:])
    assert found == bootstrap_p(0.5, DRAWS[0] - DRAWS[2])


def test_without_replicates_nothing_is_tested():
    assert math.isnan(regression_p(1.0, np.zeros(0), np.array([2.0]), np.zeros((1, 0))))


@pytest.mark.parametrize(
    ("difference", "p", "higher", "outcome"),
    [
        (-2.0, 0.05, True, Outcome.OPEN),
        (0.0, 0.01, True, Outcome.OPEN),
        (2.0, 0.01, True, Outcome.BETTER),
        (2.0, 0.01, False, Outcome.WORSE),
        (-1.0, 0.01, True, Outcome.WORSE),
        (-0.5, 0.01, True, Outcome.SLIGHTLY_WORSE),
        (-0.5, 0.01, False, Outcome.BETTER),
    ],
)
def test_outcomes(difference, p, higher, outcome):
    found = outcome_of(difference, p, alpha=0.05, minimum_difference=1.0, higher_is_better=higher)
    assert found is outcome
    assert found.regressed is (outcome is Outcome.WORSE)
