"""Metrics whose corpus score is the mean of their segment scores: one method to write."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from steelyard.fixed_point import on_grid
from steelyard.metrics.metric import Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.metrics.segments import Segments


@dataclass(frozen=True)
class SegmentMetric(Metric):
    """A mean of segment scores: columns, formula, replicates and rounding follow from `score_segments`."""

    factor: ClassVar[float] = 1.0
    """What means are multiplied with: 100 where `score_segments` gives shares of 1."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The segment's score, rounded to a multiple of 2^-24; and 1 for the segment, 0 where it has no score."""
        return ("score", "segments")

    @abstractmethod
    def score_segments(self, segments: Segments) -> NDArray[np.float64]:
        """The score of every segment of every system.

        Parameters
        ----------
        segments : Segments

        Returns
        -------
        (systems, segments) float64
            NaN where it is undefined.
        """

    def segment_statistics(self, segments: Segments) -> NDArray[np.float64]:
        """(systems, segments, 2)."""
        scores = self.score_segments(segments)
        defined = ~np.isnan(scores)
        return np.stack([on_grid(np.where(defined, scores, 0.0)), defined.astype(np.float64)], axis=-1)

    def score(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean over the segments that have a score. NaN where none has."""
        segments = sums[..., 1]
        return self.factor * np.where(segments > 0, sums[..., 0] / np.maximum(segments, 1.0), np.nan)
