"""What resampling asks of a metric and of what it measured, so that neither has to be imported here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class Formula(Protocol):
    """A score that is made of sums of statistics."""

    def score(self, sums: Floats) -> Floats:
        """The scores for summed statistics.

        Parameters
        ----------
        sums : ndarray of float64, shape (..., k)

        Returns
        -------
        ndarray of float64, shape (...)
        """


class Scored(Protocol):
    """What one metric says of all systems: `steelyard.metrics.score_systems.MetricResult`."""

    @property
    def metric(self) -> Formula:
        """Whose scores these are."""

    @property
    def scores(self) -> Floats:
        """(systems,)."""

    @property
    def replicate_scores(self) -> Floats:
        """(systems, replicates)."""

    @property
    def statistics(self) -> Floats | None:
        """(systems, segments, k), or None where they were not kept."""
