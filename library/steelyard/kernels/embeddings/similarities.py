"""Hypotheses compared with references by the vectors of their words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words

WHOLE = 2**40
"""The similarity of n-grams that are equal."""
EDIT = 2**24
"""The cost of an insertion or a deletion."""


@dataclass(frozen=True, eq=False)
class Similarities:
    """What both embedding metrics are made of; whole numbers, so that their sums are exact."""

    best: NDArray[np.int64]
    """(orders, words of all hypotheses): how similar the n-gram that begins there is to the one that it resembles most
    in any reference, in parts of WHOLE; 0 where none begins, where none has a direction, and below 0."""
    distances: NDArray[np.int64]
    """(2, references, systems, segments): weighted Levenshtein distances in parts of EDIT, with substitutions that
    cost up to 1, then up to 2; -1 where the reference is missing."""


def similarities(
    words: Words,
    present: NDArray[np.uint8],
    systems: int,
    rows: NDArray[np.int32],
    vectors: NDArray[np.float32],
    deepest: int,
) -> Similarities:
    """N-grams of the orders 1 to `deepest` and sentences compared by the cosine of sums of vectors.

    `rows` says for each distinct word where its vector is among `vectors` (rows, size), or -1 for a word without.
    `present` is (references, segments). Products of vectors are added in one fixed order, so that all results are
    the same to the bit everywhere. Segments of more than 1,024 words are compared with their reference in pieces of
    even length; equal n-grams are found in all of it nevertheless.

    Parameters
    ----------
    words : Words
    present : ndarray of uint8
    systems : int
    rows : ndarray of int32
    vectors : ndarray of float32
    deepest : int

    Returns
    -------
    Similarities
    """
    references, segments = present.shape
    total = int(words.starts[-1] - words.starts[references * segments])
    best = np.empty((deepest, total), np.int64)
    distances = np.empty((2, references, systems, segments), np.int64)
    kernel("similarities")(
        words.ids, words.starts, present, rows, vectors, words.types, systems, deepest, best, distances
    )
    return Similarities(best, distances)
