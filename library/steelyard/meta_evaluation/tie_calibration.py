"""Accuracy with tie calibration: a metric may call a pair equal when its scores are close, and how close is fitted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.ranking.exchanged_calibration import bits_of_trials, exchanged_calibration
from steelyard.kernels.ranking.pairs import LANES, Steps, calibrate_drawn
from steelyard.meta_evaluation.pairs import count_pairs
from steelyard.meta_evaluation.segment_statistic import SegmentStatistic, once_each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from steelyard.kernels.resampling.resampling import Counts

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Bytes = NDArray[np.uint8]


MOST_PARTS = 2**32
"""The accuracy of a segment is counted in so many parts at most, so that sums of up to two million are exact."""

AT_ONCE = 1 << 21
"""Distances of pairs that are put in order at a time."""

SAMPLE = 1 << 16
"""Distances that are looked at to find where to cut."""


@dataclass(frozen=True)
class CalibratedAccuracy(SegmentStatistic):
    """The mean over the segments of the share of pairs on which both sides agree, at the best threshold.

    Deutsch, Foster and Freitag 2023, section 5: a pair is a tie of the metric where its scores differ by epsilon or
    less; epsilon is 0 or a difference that occurs, the smallest of those with the best accuracy. Every replicate
    is calibrated again.
    """

    def values(self, human: Floats, metric: Floats, counts: Counts) -> Floats:
        """One for each replicate."""
        return self.calibrated(human, metric, counts)[0]

    def counted(self, human: Floats, metric: Floats) -> int:
        """All pairs."""
        return int(count_pairs(human, metric).pairs.sum())

    def epsilon(self, human: Floats, metric: Floats) -> float:
        """The threshold that was chosen.

        Parameters
        ----------
        human, metric : ndarray of float64, shape (systems, segments)

        Returns
        -------
        float
            NaN without a pair.
        """
        return float(self.calibrated(human, metric, once_each(human.shape[1]))[1][0])

    def calibrated(self, human: Floats, metric: Floats, counts: Counts) -> tuple[Floats, Floats]:
        """The accuracy of every replicate, and the threshold chosen for it.

        Parameters
        ----------
        human, metric : ndarray of float64, shape (systems, segments)
        counts : ndarray of unsigned integers, shape (B, segments)

        Returns
        -------
        accuracies, thresholds : ndarray of float64, shape (B,)
        """
        pairs = _Pairs(human, metric)
        portions = list(pairs.steps())
        distances = np.concatenate([np.zeros(0), *(steps.distance for steps in portions)])
        accuracies, thresholds = np.full((2, len(counts)), np.nan)
        for begin in range(0, len(counts), LANES):
            drawn = counts[begin : begin + LANES].astype(np.int64)
            worth = np.zeros((human.shape[1], LANES), np.int64)
            worth[:, : len(drawn)] = (drawn * pairs.share).T
            sums, best, at = np.zeros((2, LANES), np.int64), np.zeros(LANES, np.int64), np.full(LANES, -1)
            number = 0
            for steps in portions:
                calibrate_drawn(steps, worth, number, sums[0], best, at)
                number += len(steps.distance)
            found, at = pairs.accuracy(sums[0, : len(drawn)], best[: len(drawn)], drawn), at[: len(drawn)]
            accuracies[begin : begin + LANES] = found
            chosen = np.append(distances, 0.0)[at]
            thresholds[begin : begin + LANES] = np.where(np.isnan(found), np.nan, chosen)
        return accuracies, thresholds

    def exchanged(self, human: Floats, first: Floats, second: Floats) -> Callable[[NDArray[np.bool_]], Floats]:
        """As for every statistic."""
        values = self.exchanged_of_many(human, np.stack([first, second]), [(0, 1)])
        return lambda swapped: values(swapped)[:, 0]

    def exchanged_of_many(
        self, human: Floats, metrics: Floats, compared: Sequence[tuple[int, int]]
    ) -> Callable[[NDArray[np.bool_]], Floats]:
        """As `exchanged`, for many two metrics that share their trials.

        Parameters
        ----------
        human : ndarray of float64, shape (systems, segments)
        metrics : ndarray of float64, shape (metrics, systems, segments)
            All have scores in the same cells.
        compared : sequence of (int, int)
            Positions of metrics.

        Returns
        -------
        function of ndarray of bool, shape (trials, systems, segments), to ndarray of float64, (2, compared, trials)
        """
        pairs = _Pairs(human, metrics[0])
        once = once_each(human.shape[1]).astype(np.int64)

        def values(swapped: NDArray[np.bool_]) -> Floats:
            bits, found = bits_of_trials(swapped), np.empty((2, len(compared), len(swapped)))
            for number, (one, other) in enumerate(compared):
                sums, best = exchanged_calibration(human, metrics[one], metrics[other], pairs.share, bits)
                for side in range(2):
                    found[side, number] = pairs.accuracy(sums[side], best[side], once)[: len(swapped)]
            return found

        return values


class _Pairs:
    """The pairs that both sides judge, and what one counts for the accuracy of its segment."""

    def __init__(self, human: Floats, metric: Floats) -> None:
        self.human, self.metric = human, metric
        kinds = count_pairs(human, metric)
        pairs = kinds.pairs.astype(np.int64)
        self.with_pairs = pairs > 0
        parts = math.lcm(*set(pairs[self.with_pairs].tolist()))
        # Shares of pairs are whole numbers of these parts, unless that would take too many.
        self.whole = float(min(parts, MOST_PARTS))
        self.share = np.where(self.with_pairs, np.rint(self.whole / np.maximum(pairs, 1)), 0).astype(np.int64)
        self.tied = (kinds.tied_human + kinds.tied_both).astype(np.int64) * self.share
        """(segments,): what those count that people find equal."""
        self.number = int(pairs.sum())

    def accuracy(self, sums: Integers, best: Integers, drawn: Integers) -> Floats:
        """What all steps change and the best sum on the way, (...,), as accuracy; `drawn` (..., segments) are draws.

        In the end all pairs are ties. The way back from there leads to no tie at all, where only those are right that
        both sides part alike.
        """
        judged = drawn[:, self.with_pairs].sum(-1).astype(np.float64)
        right = (drawn * self.tied).sum(-1) - sums + best
        with np.errstate(invalid="ignore"):
            accuracy: Floats = np.where(judged > 0, right / (self.whole * judged), np.nan)
        return accuracy

    def steps(self) -> Iterator[Steps]:
        """In portions, the smallest distances first."""
        for above, up_to in self._ranges():
            rows = [self._of_system(system, above, up_to) for system in range(len(self.human))]
            columns = [np.concatenate(column) for column in zip(*rows, strict=True)]
            order = np.argsort(columns[0])
            distance, segment, upwards = (column[order] for column in columns)
            last = np.append(distance[1:] != distance[:-1], [True] * bool(len(distance))).astype(np.uint8)
            yield Steps(distance, segment, upwards, last)

    def _of_system(self, system: int, above: float, up_to: float) -> tuple[Floats, NDArray[np.int32], Bytes]:
        """The steps of a system's pairs with all later ones whose distances lie in the range, in any order."""
        by_human = self.human[system] - self.human[system + 1 :]
        by_metric = self.metric[system] - self.metric[system + 1 :]
        distance = np.abs(by_metric)
        # A pair that only one side parts, or both do the other way round, is wrong before and after.
        changing = (by_human == 0) | (np.sign(by_human) == np.sign(by_metric))
        other, segment = np.nonzero(changing & (distance > above) & (distance <= up_to))
        upwards = (by_human[other, segment] == 0).astype(np.uint8)
        return distance[other, segment], segment.astype(np.int32), upwards

    def _ranges(self) -> Iterator[tuple[float, float]]:
        """Above, and up to: ranges of distances with about as many steps each as fit into memory at once."""
        bounds = [-1.0]
        portions = -(-self.number // AT_ONCE)
        if portions > 1:
            few = self.metric[:, :: max(1, self.number // SAMPLE)]
            first, second = np.triu_indices(len(self.human), 1)
            distances = np.sort(np.abs(few[first] - few[second]).ravel())
            distances = distances[~np.isnan(distances)]
            inner = [len(distances) * portion // portions for portion in range(1, portions)]
            bounds += sorted(set(distances[inner].tolist())) if len(distances) else []
        yield from zip(bounds, [*bounds[1:], math.inf], strict=True)
