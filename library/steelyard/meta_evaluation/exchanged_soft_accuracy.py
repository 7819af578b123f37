"""Soft pairwise accuracy of metrics that exchange scores with each other, for many trials at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.fixed_point import on_grid
from steelyard.kernels.ranking.exchanged_wins import LANES, bits_of_segments, exchanged_half_wins, exchanged_sums
from steelyard.meta_evaluation.soft_accuracy import PERMUTATIONS, better_p, soft_pairwise_accuracy
from steelyard.resampling.randomization import sign_flips

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

MEMORY = 1 << 27
"""Bytes for the sums of the trials that are worked on at once."""


def exchanged_soft_accuracy(
    human: Floats,
    metrics: Floats,
    compared: Sequence[tuple[int, int]],
    seed: int,
    permutations: int = PERMUTATIONS,
) -> Callable[[Bools], Floats]:
    """Soft pairwise accuracy where two metrics exchange some of their scores, for many two that share their trials.

    The p-values of a trial are those of `better_p` of the mixed scores. Sums over segments are of multiples of 2^-24,
    so that what a trial moves can be added and taken away in any order: the sums of a metric serve all that it is
    compared with.

    Parameters
    ----------
    human : ndarray of float64, shape (systems, segments)
        NaN where there is no score.
    metrics : ndarray of float64, shape (metrics, systems, segments)
        Standardised scores; NaN where a cell lacks one, in all of them alike.
    compared : sequence of (int, int)
        Positions of metrics.
    seed : int
        Of the permutations of segments, as of `better_p`.
    permutations : int

    Returns
    -------
    function of ndarray of bool, shape (trials, systems, segments), to ndarray of float64, shape (2, compared, trials)
        From where they exchange scores to the values of both.
    """
    judged = ~np.isnan(human) & ~np.isnan(metrics[0])
    # A system without a cell, such as a reference that people judged, has no pairs.
    present, used = np.logical_or.reduce(judged, axis=1), np.logical_or.reduce(judged, axis=0)
    by_human = better_p(human[present], judged[present], seed, permutations)
    turned = sign_flips(human.shape[1], seed, 0, permutations)[:, used]
    known = judged[present][:, used]
    # Turning a segment changes the sign of its scores, which is to take them away twice.
    scores = -on_grid(np.where(known, metrics[:, present][:, :, used], 0.0))
    rows = _Rows(scores, known, turned)
    at_once = max(1, MEMORY // (8 * LANES * len(metrics) * rows.number))
    both = np.array(compared, np.int64).reshape(-1, 2)
    portions = np.array_split(np.arange(permutations), -(-permutations // at_once))

    def values(swapped: Bools) -> Floats:
        found = np.empty((2, len(compared), len(swapped)))
        for begin in range(0, len(swapped), LANES):
            trials = swapped[begin : begin + LANES][:, present][:, :, used]
            lanes = np.zeros((*known.shape, LANES), np.bool_)
            lanes[..., : len(trials)] = np.moveaxis(trials, 0, -1)
            counts = np.zeros((2, len(compared), len(rows.left), LANES), np.int32)
            for portion in portions:
                whole, moved = rows.sums(lanes, slice(portion[0], portion[-1] + 1))
                exchanged_half_wins(whole, moved, both, rows.left, rows.right, counts)
            p = np.moveaxis(counts, -1, 2)[:, :, : len(trials)] / (2 * permutations)
            found[:, :, begin : begin + LANES] = soft_pairwise_accuracy(by_human, p)
        return found

    return values


class _Rows:
    """Rows of sums that are compared, and which with which.

    Of segments that all systems share, the sums of a system serve all of its pairs; of others each pair has its own.
    """

    def __init__(self, scores: Floats, known: Bools, turned: NDArray[np.uint8]) -> None:
        systems = np.arange(len(known))
        self.left, self.right = np.triu_indices(len(known), 1)
        complete = np.logical_and.reduce(known, axis=0)
        self.parts = [_Part(scores, systems, complete, np.ones((1, len(complete)), np.bool_), turned)]
        if not complete.all():
            shared = np.tile(known[self.left] & known[self.right], (2, 1))
            self.of_pairs = np.concatenate([self.left, self.right])
            self.parts.append(_Part(scores, self.of_pairs, ~complete, shared, turned))
            self.left, self.right = np.split(np.arange(len(self.of_pairs)), 2)
        self.number = max(1, *(len(part.systems) for part in self.parts))

    def sums(self, swapped: Bools, permutations: slice) -> tuple[Floats, Floats]:
        """Of all cells, (metrics, rows, permutations), and of those that trials exchange, (..., LANES)."""
        whole = [part.whole[:, :, permutations] for part in self.parts]
        moved = [part.moved(swapped, permutations) for part in self.parts]
        if len(self.parts) > 1:
            whole, moved = ([each[0][:, self.of_pairs] + each[1]] for each in (whole, moved))
        return np.ascontiguousarray(whole[0]), moved[0]


class _Part:
    """Some of the segments: the sums of each row of scores over those that permutations turn."""

    def __init__(
        self, scores: Floats, systems: NDArray[np.intp], columns: Bools, shared: Bools, turned: NDArray[np.uint8]
    ) -> None:
        self.systems, self.columns = systems, columns
        self.scores = np.ascontiguousarray((scores[:, systems] * shared)[:, :, columns])
        self.turned = bits_of_segments(turned[:, columns])
        self.whole = self.scores @ turned[:, columns].T.astype(np.float64)

    def moved(self, swapped: Bools, permutations: slice) -> Floats:
        """Those of the cells that trials exchange: (metrics, rows, permutations, LANES)."""
        here = np.ascontiguousarray(swapped[:, self.columns][self.systems])
        return exchanged_sums(self.scores, here, np.ascontiguousarray(self.turned[:, permutations]))
