"""Accuracy with tie calibration: a metric may call a pair equal when its scores are close, and how close is fitted."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.ranking.pairs import LANES, Steps, calibrate_drawn, calibrate_exchanged
from steelyard.meta_evaluation.pairs import count_pairs
from steelyard.meta_evaluation.segment_statistic import SegmentStatistic, once_each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from steelyard.kernels.resampling.resampling import Counts

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Bytes = NDArray[np.uint8]
    Cells = NDArray[np.int32]
    _Columns = tuple[Floats, Cells, Cells, Bytes, Bytes, Bytes]


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
        portions = list(pairs.steps([metric]))
        distances = np.concatenate([np.zeros(0), *(steps.distance for steps in portions)])
        accuracies, thresholds = np.full((2, len(counts)), np.nan)
        for begin in range(0, len(counts), LANES):
            drawn = counts[begin : begin + LANES].astype(np.int64)
            worth = np.zeros((human.shape[1], LANES), np.int64)
            worth[:, : len(drawn)] = (drawn * pairs.share).T
            sums, best, at = np.zeros((2, LANES), np.int64), np.zeros(LANES, np.int64), np.full(LANES, -1)
            number = 0
            for steps in portions:
                calibrate_drawn(steps, human.shape[1], worth, number, sums[0], best, at)
                number += len(steps.distance)
            found, at = pairs.accuracy(sums[0, : len(drawn)], best[: len(drawn)], drawn), at[: len(drawn)]
            accuracies[begin : begin + LANES] = found
            chosen = np.append(distances, 0.0)[at]
            thresholds[begin : begin + LANES] = np.where(np.isnan(found), np.nan, chosen)
        return accuracies, thresholds

    def exchanged(self, human: Floats, first: Floats, second: Floats) -> Callable[[NDArray[np.bool_]], Floats]:
        """As for every statistic. A pair has four distances, which are put in order once for all trials."""
        pairs = _Pairs(human, first)
        portions = [replace(steps, distance=np.zeros(0)) for steps in pairs.steps([first, second])]
        share = np.tile(pairs.share, len(human))
        once = once_each(human.shape[1]).astype(np.int64)

        def values(swapped: NDArray[np.bool_]) -> Floats:
            found = np.empty((2, len(swapped)))
            for begin in range(0, len(swapped), LANES):
                trials = swapped[begin : begin + LANES].reshape(-1, len(share))
                packed = np.zeros((len(share), LANES // 8), np.uint8)
                packed[:, : -(-len(trials) // 8)] = np.packbits(trials, axis=0, bitorder="little").T
                words = packed.view("<u8").ravel().astype(np.uint64)
                sums, best = np.zeros((2, 2, LANES), np.int64)
                for steps in portions:
                    calibrate_exchanged(steps, share, words, sums, best)
                for side in range(2):
                    of_side = pairs.accuracy(sums[side], best[side], once)
                    found[side, begin : begin + LANES] = of_side[: len(trials)]
            return found

        return values


class _Pairs:
    """The pairs that both sides judge, and what one counts for the accuracy of its segment."""

    def __init__(self, human: Floats, metric: Floats) -> None:
        self.human = human
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

    def steps(self, metrics: Sequence[Floats]) -> Iterator[Steps]:
        """In portions, the smallest distances first; scores of cells are those of one metric, or of two in turn."""
        for above, up_to in self._ranges(metrics):
            rows = [self._of_system(metrics, system, above, up_to) for system in range(len(self.human))]
            columns = [np.concatenate(column) for column in zip(*chain.from_iterable(rows), strict=True)]
            order = np.argsort(columns[0])
            distance, first, second, first_state, second_state, upwards = (column[order] for column in columns)
            last = np.append(distance[1:] != distance[:-1], [True] * bool(len(distance))).astype(np.uint8)
            yield Steps(distance, first, second, first_state, second_state, upwards, last)

    def _of_system(self, metrics: Sequence[Floats], system: int, above: float, up_to: float) -> Iterator[_Columns]:
        """The steps of a system's pairs with all later ones whose distances lie in the range, in any order."""
        segments = self.human.shape[1]
        by_human = self.human[system] - self.human[system + 1 :]
        for first_state, second_state in product(range(len(metrics)), repeat=2):
            by_metric = metrics[first_state][system] - metrics[second_state][system + 1 :]
            distance = np.abs(by_metric)
            # A pair that only one side parts, or both do the other way round, is wrong before and after.
            changing = (by_human == 0) | (np.sign(by_human) == np.sign(by_metric))
            other, segment = np.nonzero(changing & (distance > above) & (distance <= up_to))
            yield (
                distance[other, segment],
                (system * segments + segment).astype(np.int32),
                ((system + 1 + other) * segments + segment).astype(np.int32),
                np.full(len(segment), first_state, np.uint8),
                np.full(len(segment), second_state, np.uint8),
                (by_human[other, segment] == 0).astype(np.uint8),
            )

    def _ranges(self, metrics: Sequence[Floats]) -> Iterator[tuple[float, float]]:
        """Above, and up to: ranges of distances with about as many steps each as fit into memory at once."""
        bounds = [-1.0]
        portions = -(-self.number * len(metrics) ** 2 // AT_ONCE)
        if portions > 1:
            some = slice(None, None, max(1, self.number // SAMPLE))
            few = [scores[:, some] for scores in metrics]
            first, second = np.triu_indices(len(self.human), 1)
            pairs = product(few, repeat=2)
            distances = np.concatenate([np.abs(one[first] - other[second]).ravel() for one, other in pairs])
            distances = np.sort(distances[~np.isnan(distances)])
            inner = [len(distances) * portion // portions for portion in range(1, portions)]
            bounds += sorted(set(distances[inner].tolist())) if len(distances) else []
        yield from zip(bounds, [*bounds[1:], math.inf], strict=True)
