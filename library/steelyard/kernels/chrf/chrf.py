"""The statistics of chrF from shared n-grams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.kernels.chrf.shared_ngrams import SharedNgrams


def chrf_statistics(
    characters: SharedNgrams | None,
    words: SharedNgrams | None,
    present: NDArray[np.uint8],
    systems: int,
    beta: float,
    *,
    effective: bool = True,
) -> NDArray[np.float64]:
    """The statistics of every segment of every system: (systems, segments, 3 * orders of characters and words).

    For the character orders, then the word orders: n-grams of the hypothesis (0 where the reference has none), of the
    reference, and common to both. Of several references the one with the highest segment score, which depends on
    `beta` and `effective` (see `chrf_scores`), counts; the first on ties. `present` is (references, segments).

    Parameters
    ----------
    characters : SharedNgrams or None
    words : SharedNgrams or None
    present : ndarray of uint8
    systems : int
    beta : float
    effective : bool, optional

    Returns
    -------
    ndarray of float64
    """
    orders = [level.shared.shape[-1] if level else 0 for level in (characters, words)]
    out = np.empty((systems, present.shape[1], 3 * sum(orders)))
    arrays = [
        each for level in (characters, words) for each in ((level.lengths, level.shared) if level else (None, None))
    ]
    kernel("chrf_statistics")(*arrays, present, systems, beta * beta, effective, out)
    return out
