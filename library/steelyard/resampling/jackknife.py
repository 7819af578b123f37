"""The jackknife: what the score would be without each single segment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.resampling.scored import Formula

    Floats = NDArray[np.float64]

ROWS = 1 << 16
"""Segments left out at a time, which bounds the memory beside the statistics themselves."""


def leave_one_out(metric: Formula, statistics: Floats) -> Floats:
    """The score of the test set without each of its segments.

    The sums are exact, so the scores are those of scoring the shorter test set.

    Parameters
    ----------
    metric : Formula
    statistics : ndarray of float64, shape (..., n, k)

    Returns
    -------
    ndarray of float64, shape (..., n)
        NaN where the score is undefined without the segment.
    """
    segments, columns = statistics.shape[-2:]
    scores = np.empty(statistics.shape[:-1])
    by_output = scores.reshape(-1, segments)
    for row, output in enumerate(statistics.reshape(-1, segments, columns)):
        sums = output.sum(axis=0, dtype=np.float64)
        for begin in range(0, segments, ROWS):
            by_output[row, begin : begin + ROWS] = metric.score(sums - output[begin : begin + ROWS])
    return scores
