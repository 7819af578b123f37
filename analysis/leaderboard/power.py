"""Statistical power of a test set: which differences of a board's systems it can detect."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from steelyard.resampling.paired import pairs_to_test
from steelyard.resampling.power import ALPHA, POWER, power_at, segments_needed, smallest_difference
from steelyard.resampling.runs import standard_deviation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.leaderboard.board import Board


@dataclass(frozen=True)
class Neighbours:
    """Two systems next to each other on a board; systems are positions in its rows."""

    a: int
    """The better one, or the first of two that are equal."""
    b: int
    difference: float
    """Score of b minus score of a."""
    smallest: float
    """The smallest true difference between the two that is detected with the given power; NaN where undefined."""
    power: float
    """The probability of finding a true difference as large as the one seen; NaN where replicates show no spread."""
    segments: int | None
    """The number of similar segments that detect it with the given power; None where no number does."""

    @property
    def enough(self) -> bool:
        """Whether the test set is large enough for a true difference as large as the one seen."""
        return abs(self.difference) >= self.smallest > 0


@dataclass(frozen=True)
class MetricPower:
    """The power of a test set by one metric."""

    metric: int
    alpha: float
    power: float
    smallest: tuple[float, float, float] | None
    """The smallest detectable true difference: least, median and largest of all pairs.

    Pairs with constant replicate differences (the same output, a single segment) are left out; None without others.
    """
    neighbours: Sequence[Neighbours]


def board_power(board: Board, metric: int, segments: int, *, alpha: float = ALPHA, power: float = POWER) -> MetricPower:
    """The power of a board's test set with so many segments by one of its metrics, from stored replicates."""
    scores = board.scores(metric)
    ranked = [row for row in range(len(scores)) if not math.isnan(scores[row])]
    if not board.listed.replicates:
        ranked = []
    ranked.sort(key=lambda row: scores[row], reverse=board.higher_is_better(metric))
    replicates = [board.rows[row].scores[metric].replicate_scores for row in ranked]
    found, neighbours = [], []
    for a, b in pairs_to_test(len(ranked), None):
        deviation = standard_deviation(replicates[b] - replicates[a])
        smallest = smallest_difference(deviation, alpha, power)
        if smallest > 0:
            found.append(smallest)
        if b == a + 1:
            difference = float(scores[ranked[b]] - scores[ranked[a]])
            enough = segments_needed(difference, deviation, segments, alpha, power) if smallest > 0 else None
            seen = power_at(difference, deviation, alpha)
            neighbours.append(Neighbours(ranked[a], ranked[b], difference, smallest, seen, enough))
    ends = (min(found), median(found), max(found)) if found else None
    return MetricPower(metric, alpha, power, ends, neighbours)
