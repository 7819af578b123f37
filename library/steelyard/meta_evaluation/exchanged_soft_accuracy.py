"""Soft pairwise accuracy of two metrics that exchange scores, for many trials at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.fixed_point import on_grid
from steelyard.kernels.ranking.half_wins import half_wins
from steelyard.meta_evaluation.soft_accuracy import PERMUTATIONS, better_p, soft_pairwise_accuracy
from steelyard.resampling.randomization import sign_flips

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MEMORY = 1 << 26
"""Bytes for the sums of the trials that are worked on at once."""


def exchanged_soft_accuracy(
    human: Floats, first: Floats, second: Floats, seed: int, permutations: int = PERMUTATIONS
) -> Callable[[NDArray[np.bool_]], Floats]:
    """Soft pairwise accuracy where two metrics exchange some of their scores.

    The p-values of a trial are those of `better_p` of the mixed scores. Sums over segments are of multiples of 2^-24,
    so that what a trial moves can be added and taken away in any order.

    Parameters
    ----------
    human, first, second : ndarray of float64, shape (systems, segments)
        Standardised scores of two metrics; NaN where a cell lacks one, in both alike.
    seed : int
        Of the permutations of segments, as of `better_p`.
    permutations : int

    Returns
    -------
    function of ndarray of bool, shape (trials, systems, segments), to ndarray of float64, shape (2, trials)
        From where they exchange scores to the values of both.
    """
    # A system without a cell, such as a reference that people judged, has no pairs.
    present = np.logical_or.reduce(~np.isnan(human) & ~np.isnan(first), axis=1)
    human, first, second = human[present], first[present], second[present]
    judged = ~np.isnan(human) & ~np.isnan(first)
    by_human = better_p(human, judged, seed, permutations)
    signs = np.where(sign_flips(human.shape[1], seed, 0, permutations), -1.0, 1.0).T - 1.0
    a, b = (on_grid(np.where(judged, scores, 0.0)) for scores in (first, second))
    one, other = np.triu_indices(len(human), 1)
    # Of segments that all systems share, the sums of a system serve all of its pairs; of others each pair has its own.
    complete = np.logical_and.reduce(judged, axis=0)
    rest = np.logical_or.reduce(judged, axis=0) & ~complete
    every = np.arange(len(human))
    parts = [_Part(every, complete, np.ones((1, complete.sum())), a, b, signs)]
    left, right = one, other
    if rest.any():
        shared = np.tile((judged[one] & judged[other])[:, rest].astype(np.float64), (2, 1))
        of_pairs = np.concatenate([one, other])
        parts.append(_Part(of_pairs, rest, shared, a, b, signs))
        left, right = np.split(np.arange(len(of_pairs)), 2)

    def values(swapped: NDArray[np.bool_]) -> Floats:
        found = np.empty((2, len(swapped)))
        at_once = max(1, MEMORY // (8 * (len(left) + len(human)) * permutations))
        for begin in range(0, len(swapped), at_once):
            sums = [part.exchanged(swapped[begin : begin + at_once, present]) for part in parts]
            for side in range(2):
                for trial in range(len(sums[0][side])):
                    rows = sums[0][side][trial]
                    if len(parts) > 1:
                        rows = rows[of_pairs] + sums[1][side][trial]
                    p = half_wins(rows, left, right) / (2 * permutations)
                    p = np.where(np.isnan(by_human), np.nan, p)
                    found[side, begin + trial] = soft_pairwise_accuracy(by_human, p)
        return found

    return values


class _Part:
    """Some of the segments: what permutations add to the real sums of each row of scores."""

    def __init__(
        self, systems: NDArray[np.intp], columns: NDArray[np.bool_], shared: Floats, a: Floats, b: Floats, signs: Floats
    ) -> None:
        self.systems, self.columns, self.signs = systems, columns, signs[columns]
        self.scores = [each[:, columns][systems] * shared for each in (a, b)]
        self.whole = [each @ self.signs for each in self.scores]

    def exchanged(self, swapped: NDArray[np.bool_]) -> list[Floats]:
        """Of both metrics, (trials, rows, permutations) each."""
        moving = swapped[:, :, self.columns][:, self.systems].astype(np.float64)
        moved = [(moving * each) @ self.signs for each in self.scores]
        return [self.whole[side] - moved[side] + moved[1 - side] for side in range(2)]
