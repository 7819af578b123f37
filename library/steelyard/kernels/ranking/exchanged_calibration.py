"""Tie calibration of two metrics that exchange scores, in many trials at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]


def bits_of_trials(swapped: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Where trials exchange scores, for `exchanged_calibration`.

    Parameters
    ----------
    swapped : ndarray of bool, shape (trials, systems, segments)

    Returns
    -------
    ndarray of uint64, shape (ceil(trials / 64), systems * segments)
        A bit for each trial.
    """
    trials, words = len(swapped), -(-len(swapped) // 64)
    cells = math.prod(swapped.shape[1:])
    packed = np.zeros((words * 8, cells), np.uint8)
    packed[: -(-trials // 8)] = np.packbits(swapped.reshape(trials, cells), axis=0, bitorder="little")
    in_words = np.ascontiguousarray(packed.reshape(words, 8, cells).swapaxes(1, 2)).view("<u8")[..., 0]
    return np.ascontiguousarray(in_words, np.uint64)


def exchanged_calibration(
    human: Floats, first: Floats, second: Floats, share: Integers, swapped: NDArray[np.uint64]
) -> tuple[Integers, Integers]:
    """What all ties change as the threshold grows, and the best sum on the way: of both metrics in each trial.

    A pair that becomes a tie adds the share of its segment where people find it equal, and takes it away where both
    sides part it alike.

    Parameters
    ----------
    human, first, second : ndarray of float64, shape (systems, segments)
        NaN where there is no score, of both metrics in the same cells.
    share : ndarray of int64, shape (segments,)
        What a pair of the segment counts.
    swapped : ndarray of uint64, shape (words, systems * segments)
        Where the two metrics exchange their scores, as `bits_of_trials` makes it.

    Returns
    -------
    sums, best : ndarray of int64, shape (2, 64 * words)
        Of the first metric and of the second one; beyond the trials those of the scores as they are.
    """
    sums, best = np.zeros((2, 2, len(swapped), 64), np.int64)
    scores = (np.ascontiguousarray(each, np.float64) for each in (human, first, second))
    kernel("exchanged_calibration")(*scores, np.argsort(share, kind="stable"), share, swapped, sums, best)
    return sums.reshape(2, -1), best.reshape(2, -1)
