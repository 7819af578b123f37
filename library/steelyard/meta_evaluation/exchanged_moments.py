"""Pearson's r of two metrics that exchange scores, for many trials at once.

A trial's sums are those of one metric, less what it gives away, plus what it gets: sums over the cells that are
exchanged, which are made as those of replicates are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from steelyard.resampling.bootstrap import exact_products

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

STEEP = 2.0**-20
"""Mixed scores that vary less than this share of all scores leave too few digits."""


class ExchangedMoments:
    """Human scores and those of two metrics in the same cells, none undefined.

    Parameters
    ----------
    human : ndarray of float64, shape (cells,)
        With mean 0 and variance 1, or 0 where it is constant.
    first, second : ndarray of float64, shape (cells,)
    """

    def __init__(self, human: Floats, first: Floats, second: Floats) -> None:
        self._cells = len(human)
        if not self._cells:
            return
        a, b = _alike_standardised(first, second)
        moments = np.stack([a, a * a, human * a, b, b * b, human * b], axis=1)
        # As fine a grid as leaves all sums exact: below 2^53 steps.
        self._grid = 2.0 ** (51 - math.frexp(float(np.abs(moments).sum(axis=0).max()) + 1.0)[1])
        self._steps = np.rint(moments * self._grid)
        self._totals = self._steps.sum(axis=0)
        self._human = math.fsum(human.tolist()), math.fsum((human * human).tolist())

    def of_trials(self, swapped: NDArray[np.bool_]) -> Floats:
        """Sums of 1, x, y, x², y², xy of both metrics in each trial.

        Parameters
        ----------
        swapped : ndarray of bool, shape (trials, cells)
            Where the two metrics exchange their scores.

        Returns
        -------
        ndarray of float64, shape (2, trials, 6)
        """
        found = np.zeros((2, len(swapped), 6))
        if self._cells and len(swapped):
            moved = exact_products(swapped.view(np.uint8), [self._steps[np.newaxis]])[0][0]
            kept = self._totals - moved
            y, yy, xy = np.moveaxis(np.stack([kept[:, :3] + moved[:, 3:], kept[:, 3:] + moved[:, :3]]), -1, 0)
            x, xx = self._human
            for place, sums in enumerate((self._cells, x, y / self._grid, xx, yy / self._grid, xy / self._grid)):
                found[..., place] = sums
        return found

    def steep(self, sums: Floats) -> NDArray[np.bool_]:
        """Where mixed scores vary so little that the sums do not tell how much.

        Parameters
        ----------
        sums : ndarray of float64, shape (2, trials, 6)

        Returns
        -------
        ndarray of bool, shape (2, trials)
        """
        n, y, yy = sums[..., 0], sums[..., 2], sums[..., 4]
        found: NDArray[np.bool_] = (n * yy - y * y <= n * n * STEEP) & (n > 1)
        return found


def _alike_standardised(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Both moved and scaled in the same way, to about mean 0 and variance 1: r of their mixtures stays what it is."""
    both = np.concatenate([first, second])
    centre = math.fsum(both.tolist()) / len(both)
    spread = math.sqrt(math.fsum(((both - centre) ** 2).tolist()) / len(both)) or 1.0
    return (first - centre) / spread, (second - centre) / spread
