"""Rankings by paired tests of several metrics, against the rule for one."""

import math

import numpy as np

from steelyard.ranking.clusters import rank_by_tests
from steelyard.ranking.tested_ranking import Ranking, rank_tested
from steelyard.resampling.paired import PairedResult

TESTS = Ranking("bootstrap", 0.05, "none", 1000)


def made(scores, results, ranked, *, tests=TESTS, segments=100):
    return rank_tested(
        tests, np.array(scores), ranked, results, higher_is_better=[True, False], titles=["BLEU", "TER"],
        segments=segments,
    )  # fmt: skip


def differ(a, b, metric, p=0.01):
    return PairedResult(a, b, metric, 1.0, p, p)


def test_systems_that_are_not_ranked_count_for_nobody():
    """Of four the second is left out: results name positions among the other three."""
    scores = [[40.0, 99.0, 30.0, 20.0], [10.0, 0.0, 20.0, 30.0]]
    results = [[differ(0, 1, 0), differ(0, 2, 0), differ(1, 2, 0, 0.5)], [differ(0, 2, 1)]]
    found = made(scores, results, [0, 2, 3])
    for metric, higher in enumerate((True, False)):
        values = np.array(scores[metric])[[0, 2, 3]]
        first, *others = rank_by_tests(values, results[metric], 0.05, higher_is_better=higher)
        assert found.ranks[metric] == [first, None, *others]
    assert found.ranks[0][0].cluster == found.ranks[0][2].cluster - 1
    assert found.fault == ""


def test_limits_are_reported():
    pair = differ(0, 1, 0)
    few = made([[2.0, 1.0]] * 2, [[pair], []], [0, 1], tests=Ranking("bootstrap", 0.05, "none", 10), segments=49)
    assert few.fault == (
        "10 replicates are too few: no p-value can be below 0.0909, so no systems are separated. "
        "49 segments are few: on them the bootstrap finds too many differences, randomization does not."
    )
    for replicates, said in ((19, "no p-value can be below 0.05,"), (20, "")):
        found = made([[2.0, 1.0]] * 2, [[pair], []], [0, 1], tests=Ranking("bootstrap", 0.05, "none", replicates)).fault
        assert said in found
        assert bool(found) is bool(said)
    trials = made([[2.0, 1.0]] * 2, [[pair], []], [0, 1], tests=Ranking("randomization", 0.05, "none", 10), segments=49)
    assert trials.fault == "10 trials are too few: no p-value can be below 0.0909, so no systems are separated."
    unknown = made([[2.0, 1.0]] * 2, [[pair], [PairedResult(0, 1, 1, 0.0, math.nan)]], [0, 1])
    assert unknown.fault == (
        "Pairs that could not be tested by TER, because resamples have no score or are all alike: 1."
    )
