"""Levenshtein distances over words between hypotheses and references."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.kernels.text.word_pairs import for_each_pair

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words


def edit_distances(words: Words, present: NDArray[np.uint8], systems: int) -> NDArray[np.int64]:
    """Insertions, deletions and substitutions: (references, systems, segments).

    -1 where `present` (references, segments) is 0. Time grows with hypothesis words x reference words / 64.

    Parameters
    ----------
    words : Words
    present : ndarray of uint8
    systems : int

    Returns
    -------
    ndarray of int64
    """
    return for_each_pair("edit_distances", words, present, systems)
