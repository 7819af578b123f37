"""The n-grams of characters and words that a translation shares with its reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from metrics.kernels.loader import INTEGER, POINTER, REAL, address, checked, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from metrics.kernels.characters import Characters

LARGEST_ORDER = 64
"""Of characters and of words, each."""


def chrf_statistics(
    characters: Characters, present: NDArray[np.uint8], systems: int, nc: int, nw: int, beta: float
) -> NDArray[np.float64]:
    """The statistics of every segment of every system: (systems, segments, 3 * (nc + nw)).

    For the character orders 1 to nc, then the word orders 1 to nw: n-grams of the hypothesis (0 where the
    reference has none), of the reference, and common to both. Of several references the one with the highest
    segment score, which depends on `beta`, counts; the first on ties. `present` is (references, segments).
    Raises MemoryError.
    """
    references, segments = present.shape
    assert len(characters.starts) == (references + systems) * segments + 1
    assert 0 <= nc <= LARGEST_ORDER and 0 <= nw <= LARGEST_ORDER  # noqa: PT018
    out = np.empty((systems, segments, 3 * (nc + nw)))
    texts = (characters.codes, characters.starts, characters.words, characters.word_starts)
    function = kernel("chrf_statistics", *[POINTER] * 5, *[INTEGER] * 5, REAL, POINTER)
    pointers = [address(array) for array in (*texts, present)]
    checked(function(*pointers, references, systems, segments, nc, nw, float(beta**2), address(out)))
    return out
