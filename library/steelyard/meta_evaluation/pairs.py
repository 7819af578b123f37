"""Pairs of systems in the same segment, counted by who is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.ranking.pairs import pair_kinds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PairCounts:
    """How many pairs of each segment are of which kind, (segments,) each, whole numbers."""

    concordant: Floats
    """People and the metric part the pair alike."""
    discordant: Floats
    tied_human: Floats
    """Equal for people only."""
    tied_metric: Floats
    tied_both: Floats

    @property
    def pairs(self) -> Floats:
        """All of them."""
        return self.concordant + self.discordant + self.tied_human + self.tied_metric + self.tied_both

    @property
    def parted_by_human(self) -> Floats:
        """Those that people do not find equal."""
        return self.concordant + self.discordant + self.tied_metric

    @property
    def parted_by_metric(self) -> Floats:
        """Those that the metric does not find equal."""
        return self.concordant + self.discordant + self.tied_human


def count_pairs(human: Floats, metric: Floats, more_than: float | None = None) -> PairCounts:
    """Count the pairs of systems that both have a human and a metric score in the same segment.

    Parameters
    ----------
    human, metric : ndarray of float64, shape (systems, segments)
        NaN where there is no score.
    more_than : float, optional
        Leave out the pairs whose human scores do not differ by more than that.

    Returns
    -------
    PairCounts
    """
    counts = pair_kinds(human, metric, -1.0 if more_than is None else more_than).astype(np.float64)
    return PairCounts(*counts)
