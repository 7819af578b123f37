"""Characters to edit after blocks of words have moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel
from steelyard.kernels.text.code_points import code_points, numbered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words


def character_rates(words: Words, present: NDArray[np.uint8], systems: int) -> NDArray[np.float64]:
    """CharacTER of every hypothesis, 0 to 1, the least over the references that are present: (systems, segments).

    Words are compared as they are joined by single blanks; an empty hypothesis has 1. Where a side has more than
    1,000 words none are moved, and the search for moves ends before the round that would bring its trials of one pair
    beyond 200 million steps, one hypothesis word against 64 reference words each. Where a side has more than
    65,536 characters, both are cut into as many pieces of even length, which are compared piece by piece.
    `present` is (references, segments). Raises MemoryError.

    Parameters
    ----------
    words : Words
    present : ndarray of uint8
    systems : int

    Returns
    -------
    ndarray of float64
    """
    codes, letter_starts = code_points(words)
    letters, alphabet = numbered(codes)
    out = np.empty((systems, present.shape[1]))
    kernel("character_rates")(
        words.ids, words.starts, present, letters, letter_starts, words.types, alphabet, systems, out
    )
    return out
