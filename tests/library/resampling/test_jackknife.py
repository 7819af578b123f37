from __future__ import annotations

import numpy as np
import pytest

from steelyard import BLEU, TER, ChrF
from steelyard.metrics.segments import Segments
from steelyard.resampling import jackknife
from steelyard.resampling.jackknife import leave_one_out

REFERENCE = ["the cat sat on the mat", "a dog", "it rains in the old town", "yes"]
SYSTEMS = [["the cat sat on a mat", "a dog barks", "it rains in the town", "yes"], ["cat", "dog", "rain", "no"]]


def text(lines):
    return "\n".join(lines).encode()


@pytest.mark.parametrize("metric", [BLEU(), ChrF()])
def test_scores_are_those_of_the_shorter_test_set(metric):
    statistics = metric.segment_statistics(
        Segments(references=[text(REFERENCE)], hypotheses=[text(system) for system in SYSTEMS])
    )
    found = leave_one_out(metric, statistics)
    assert found.shape == (2, 4)
    for left_out in range(4):
        short = [text([line for i, line in enumerate(lines) if i != left_out]) for lines in (REFERENCE, *SYSTEMS)]
        sums = metric.segment_statistics(Segments(references=short[:1], hypotheses=short[1:])).sum(axis=1)
        assert found[:, left_out].tolist() == metric.score(sums).tolist()
    assert leave_one_out(metric, statistics[1]).tolist() == found[1].tolist()


def test_statistics_of_a_small_type():
    statistics = np.random.default_rng(1).integers(1, 9, (2, 50, 10))
    assert leave_one_out(BLEU(), statistics.astype(np.uint8)).tolist() == leave_one_out(BLEU(), statistics).tolist()
    assert leave_one_out(BLEU(), statistics).tolist() == leave_one_out(BLEU(), statistics.astype(float)).tolist()
    # Sums that single precision does not hold.
    large = np.full((5, 3), 2**23 + 1, np.float32)
    assert leave_one_out(TER(), large).tolist() == leave_one_out(TER(), large.astype(float)).tolist()


def test_in_portions(monkeypatch):
    statistics = np.random.default_rng(1).integers(1, 9, (2, 50, 10)).astype(float)
    whole = leave_one_out(BLEU(), statistics)
    monkeypatch.setattr(jackknife, "ROWS", 7)
    assert leave_one_out(BLEU(), statistics).tolist() == whole.tolist()
