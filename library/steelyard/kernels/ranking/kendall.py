"""Kendall's tau-b of two lists of ranks, in n log n steps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ranks = NDArray[np.int32]


def dense_ranks(scores: NDArray[np.float64]) -> Ranks:
    """Numbers from 0 that are in order as the scores are, and equal where they are: of any shape.

    Parameters
    ----------
    scores : ndarray of float64

    Returns
    -------
    Ranks
    """
    ranks: Ranks = np.unique(scores, return_inverse=True)[1].reshape(scores.shape).astype(np.int32)
    return ranks


def tau_b(first: Ranks, second: Ranks) -> float:
    """Tau-b (Kendall 1945) of two lists (n,), the first in ascending order; NaN where one does not vary.

    Ranks are any numbers that are in order as the scores are. `second` is not changed. To the bit scipy's `kendalltau`.

    Parameters
    ----------
    first : Ranks
    second : Ranks

    Returns
    -------
    float
    """
    first, second = np.ascontiguousarray(first, np.int32), np.array(second, np.int32, order="C")
    room, counts = np.empty(len(second), np.int32), np.zeros(4, np.int64)
    kernel("count_discordant")(first, second, room, counts)
    discordant, tied_first, tied_second, tied_both = counts.tolist()
    pairs = len(first) * (len(first) - 1) // 2
    if pairs in (tied_first, tied_second):
        return math.nan
    more = pairs - tied_first - tied_second + tied_both - 2 * discordant
    tau = more / math.sqrt(pairs - tied_first) / math.sqrt(pairs - tied_second)
    return min(1.0, max(-1.0, tau))
