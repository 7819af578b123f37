"""The segments that drive a difference between two systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.breakdown.buckets import mean_of_runs
from models.results.statistics import read_statistics
from steelyard.errors import MetricsError
from steelyard.resampling.jackknife import leave_one_out
from worker.computing.scoring import cached_metric

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from analysis.leaderboard.board import Board

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


def read_influential_segments(
    connection: Connection, board: Board, metric: int, first: int, second: int, most: int
) -> InfluentialSegments | None:
    """The most influential segments for each of two systems, at most `most` for each; None where a score is undefined.

    Systems are positions in the board's rows. A segment's influence is the difference of the corpus scores minus the
    same without the segment (jackknife: Efron and Tibshirani 1993, chapter 11), from stored statistics.
    """
    rows = board.rows[first], board.rows[second]
    if not (rows[0].scores and rows[1].scores):
        return None
    try:
        formula = cached_metric(board.listed.metrics[metric])
    except MetricsError:
        return None
    whole, without, alone, statistics = [], [], [], []
    for row in rows:
        stored = read_statistics(connection, row.evaluations, metric)
        sums = [each.sum(axis=0) for each in stored]
        whole.append(mean_of_runs([np.atleast_1d(formula.score(total)) for total in sums])[0])
        without.append(mean_of_runs(list(leave_one_out(formula, stored))))
        alone.append(mean_of_runs([formula.segment_score(each) for each in stored]))
        statistics.append(stored)
    difference = float(whole[1] - whole[0])
    if np.isnan(difference):
        return None
    influence = difference - (without[1] - without[0])
    better = influence if formula.higher_is_better else -influence
    return InfluentialSegments(
        difference,
        tuple(_drivers(-better, influence, alone, most)),
        tuple(_drivers(better, influence, alone, most)),
        _identical(*statistics),
    )


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
