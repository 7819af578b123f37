"""The segments that drive a difference between two systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.resampling.jackknife import leave_one_out
from steelyard.resampling.runs import mean_over_runs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.metrics.metric import Metric

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class InfluentialSegment:
    """A segment with its influence on the difference of two systems."""

    segment: int
    """From 0."""
    influence: float
    """The difference minus what it would be without this segment, in points of the metric."""
    first: float | None
    """The first system's score of this segment alone; None where undefined."""
    second: float | None


@dataclass(frozen=True)
class InfluentialSegments:
    """The segments in favour of either of two systems, the most influential first."""

    difference: float
    """Score of the second minus score of the first."""
    for_first: tuple[InfluentialSegment, ...]
    for_second: tuple[InfluentialSegment, ...]
    identical: int
    """Segments whose statistics are the same for both."""


def influential_segments(metric: Metric, first: Floats, second: Floats, most: int) -> InfluentialSegments | None:
    """The most influential segments for each of two systems.

    A segment's influence is the difference of the corpus scores minus the same without the segment (jackknife: Efron
    and Tibshirani 1993, chapter 11).

    Parameters
    ----------
    metric : Metric
    first, second : ndarray of float64, shape (runs, segments, k)
        The statistics of each system's runs, whose scores are averaged.
    most : int
        How many segments to give for each system.

    Returns
    -------
    InfluentialSegments or None
        None where the score of a system is undefined.
    """
    whole, without, alone = [], [], []
    for statistics in (first, second):
        sums = np.stack([each.sum(axis=0) for each in statistics])
        whole.append(float(_mean(metric.score(sums)[:, np.newaxis])[0]))
        without.append(_mean(leave_one_out(metric, statistics)))
        alone.append(_mean(np.stack([metric.segment_score(each) for each in statistics])))
    difference = whole[1] - whole[0]
    if np.isnan(difference):
        return None
    influence = difference - (without[1] - without[0])
    better = influence if metric.higher_is_better else -influence
    return InfluentialSegments(
        difference,
        tuple(_drivers(-better, influence, alone, most)),
        tuple(_drivers(better, influence, alone, most)),
        _identical(first, second),
    )


def _mean(of_runs: Floats) -> Floats:
    """(runs, n) -> (n,)."""
    (mean,) = mean_over_runs(of_runs, [len(of_runs)])
    found: Floats = mean
    return found


def _drivers(strength: Floats, influence: Floats, alone: list[Floats], most: int) -> list[InfluentialSegment]:
    order = np.argsort(-np.where(np.isnan(strength), -np.inf, strength), kind="stable")[:most]
    return [
        InfluentialSegment(
            int(segment), float(influence[segment]), _known(alone[0][segment]), _known(alone[1][segment])
        )
        for segment in order
        if strength[segment] > 0
    ]


def _identical(first: Floats, second: Floats) -> int:
    if len(first) != len(second):
        return 0
    return int((first == second).all(axis=(0, 2)).sum())


def _known(score: np.float64) -> float | None:
    return None if np.isnan(score) else float(score)
