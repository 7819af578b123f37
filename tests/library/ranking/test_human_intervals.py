"""Intervals of human scores, against a bootstrap over documents as one would write it down."""

import math

import numpy as np
import pytest

from steelyard.kernels.resampling.resampling import resampling_counts
from steelyard.ranking.human_intervals import human_intervals
from steelyard.ranking.human_rules import MACRO
from steelyard.resampling.interval import percentile_interval

DOCUMENTS = [0, 0, 1, 2, 2, 2, 3, 4]
DOMAINS = ["news", "news", "news", "social", "social", "social", "news", "news"]
"""One document of five is of another domain: a third of all replicates lack it."""
SCORES = np.array(
    [
        [90.0, 80.0, 70.0, 10.0, 20.0, 35.0, 75.0, 60.0],
        [50.0, math.nan, 40.0, math.nan, 90.0, math.nan, 45.0, math.nan],
    ]
)


def by_definition(row, counts, average):
    """The scores of a system in each replicate."""
    found = []
    for drawn in counts:
        parts = sorted(set(DOMAINS)) if average == MACRO else [None]
        means = []
        for part in parts:
            values = [
                value
                for value, domain, document in zip(row, DOMAINS, DOCUMENTS, strict=True)
                for _ in range(drawn[document])
                if part in (None, domain) and not math.isnan(value)
            ]
            if values:
                means.append(math.fsum(values) / len(values))
        found.append(math.fsum(means) / len(means))
    return np.array(found)


@pytest.mark.parametrize("average", ["macro", "micro"])
@pytest.mark.parametrize("level", [0.95, 0.5])
def test_intervals_are_those_of_documents_drawn(average, level):
    counts = resampling_counts(5, 7, 400, 0, 5)
    assert 0.25 < np.mean(counts[:, 2] == 0) < 0.42
    found = human_intervals(SCORES, DOMAINS, DOCUMENTS, average=average, level=level, replicates=400, seed=7)
    for row, ends in zip(SCORES, found, strict=True):
        assert ends == pytest.approx(percentile_interval(by_definition(row, counts, average), level), abs=1e-6)


def test_without_two_documents_or_without_judgments_there_is_none():
    assert human_intervals(SCORES, DOMAINS, [0] * 8) == [None, None]
    unjudged = np.vstack([SCORES[:1], np.full((1, 8), math.nan)])
    first, second = human_intervals(unjudged, DOMAINS, DOCUMENTS, replicates=50)
    assert first is not None
    assert second is None
