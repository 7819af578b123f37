"""How similar the n-grams of hypotheses are to those of references."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel
from steelyard.kernels.text.code_points import code_points, numbered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words

LARGEST_ORDER = 8
"""Of hypotheses; references have n-grams of twice as many words."""


def lebleu_statistics(
    words: Words, present: NDArray[np.uint8], systems: int, order: int, threshold: float
) -> NDArray[np.float64]:
    """The statistics of every segment of every system: (systems, segments, 2 * order + 2).

    Columns: summed similarities of the hypothesis's n-grams of each order, rounded once to a multiple of 2^-24;
    n-grams of each order; characters of the hypothesis; of the reference closest to that, the shorter on ties. Each
    distinct n-gram takes the reference that serves it best. N-grams of more than 512 characters are only equal or
    not. `present` is (references, segments). Raises MemoryError.

    Parameters
    ----------
    words : Words
    present : ndarray of uint8
    systems : int
    order : int
    threshold : float

    Returns
    -------
    ndarray of float64
    """
    codes, letter_starts = code_points(words)
    letters, alphabet = numbered(codes)
    out = np.empty((systems, present.shape[1], 2 * order + 2))
    kernel("lebleu_statistics")(
        words.ids, words.starts, present, letters, letter_starts, alphabet, systems, order, threshold, out
    )
    return out
