"""What a statistic of segment scores beside human scores is, and those that are formulas of sums over segments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from steelyard.kernels.resampling.resampling import Counts

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SegmentStatistic(ABC):
    """Compares two matrices of scores, (systems, segments), NaN where there is none; a cell needs both."""

    name: str
    """As it is written on the command line."""
    title: str
    source: str
    unit: str
    """What is counted: "pairs", "cells", "segments" or "systems"."""
    on_raw: bool = False
    """Whether it takes human scores on the annotators' own scale."""

    @abstractmethod
    def values(self, human: Floats, metric: Floats, counts: Counts) -> Floats:
        """The statistic of every replicate.

        Parameters
        ----------
        human, metric : ndarray of float64, shape (systems, segments)
            NaN where there is no score.
        counts : ndarray of unsigned integers, shape (B, segments)
            How often each replicate draws each segment.

        Returns
        -------
        ndarray of float64, shape (B,)
            NaN where undefined.
        """

    @abstractmethod
    def counted(self, human: Floats, metric: Floats) -> int:
        """How many of `unit` the statistic rests on.

        Parameters
        ----------
        human, metric : ndarray of float64, shape (systems, segments)

        Returns
        -------
        int
        """

    def value(self, human: Floats, metric: Floats) -> float:
        """The statistic itself.

        Parameters
        ----------
        human, metric : ndarray of float64, shape (systems, segments)

        Returns
        -------
        float
            NaN where it is undefined.
        """
        return float(self.values(human, metric, once_each(human.shape[1]))[0])

    def exchanged(self, human: Floats, first: Floats, second: Floats) -> Callable[[NDArray[np.bool_]], Floats]:
        """The statistic of two metrics that exchange some of their scores.

        Parameters
        ----------
        human, first, second : ndarray of float64, shape (systems, segments)
            Both metrics have scores in the same cells.

        Returns
        -------
        function of ndarray of bool, shape (trials, systems, segments), to ndarray of float64, shape (2, trials)
            From where they exchange scores to the values of both.
        """
        return exchanged_one_by_one(self, human, first, second)


class SumStatistic(SegmentStatistic):
    """A formula of sums over the segments."""

    @abstractmethod
    def terms(self, human: Floats, metric: Floats) -> Floats:
        """What each segment adds to the sums.

        Parameters
        ----------
        human, metric : ndarray of float64, shape (systems, segments)

        Returns
        -------
        ndarray of float64, shape (segments, k)
        """

    @abstractmethod
    def formula(self, sums: Floats) -> Floats:
        """The statistic of summed terms.

        Parameters
        ----------
        sums : ndarray of float64, shape (..., k)

        Returns
        -------
        ndarray of float64, shape (...)
        """

    def values(self, human: Floats, metric: Floats, counts: Counts) -> Floats:
        """One for each replicate."""
        return self.formula(drawn_sums(counts, self.terms(human, metric)))


def once_each(segments: int) -> NDArray[np.uint8]:
    """The counts that draw every segment once.

    Parameters
    ----------
    segments : int

    Returns
    -------
    ndarray of uint8, shape (1, segments)
    """
    return np.ones((1, segments), np.uint8)


def drawn_sums(counts: Counts, terms: Floats) -> Floats:
    """Sums of terms over the segments of each replicate, added from the first segment to the last.

    Parameters
    ----------
    counts : ndarray of unsigned integers, shape (B, segments)
        How often each replicate draws each segment.
    terms : ndarray of float64, shape (segments, k)

    Returns
    -------
    ndarray of float64, shape (B, k)
    """
    if len(counts) == 1 and len(terms):
        # Accumulating keeps the order, too. A zero has no sign, as below.
        products = counts[0].astype(np.float64)[:, None] * terms
        return np.add.accumulate(products)[-1:] + 0.0
    sums = np.zeros((len(counts), terms.shape[1]))
    for drawn, term in zip(counts.T.astype(np.float64), terms, strict=True):
        sums += drawn[:, None] * term
    return sums


def exchanged_one_by_one(
    statistic: SegmentStatistic, human: Floats, first: Floats, second: Floats
) -> Callable[[NDArray[np.bool_]], Floats]:
    """As `SegmentStatistic.exchanged`, computed again for each trial: for any statistic.

    Parameters
    ----------
    statistic : SegmentStatistic
    human, first, second : ndarray of float64, shape (systems, segments)

    Returns
    -------
    function of ndarray of bool, shape (trials, systems, segments), to ndarray of float64, shape (2, trials)
    """

    def values(swapped: NDArray[np.bool_]) -> Floats:
        pairs = ((first, second), (second, first))
        found = [[statistic.value(human, np.where(trial, b, a)) for trial in swapped] for a, b in pairs]
        return np.array(found).reshape(2, len(swapped))

    return values
