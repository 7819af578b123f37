"""Each hypothesis word with the reference word it stands for, by affix distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel
from steelyard.kernels.text.code_points import code_points

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words


@dataclass(frozen=True, eq=False)
class Alignments:
    """For each reference and each word of all hypotheses: (references, words of all hypotheses)."""

    words: NDArray[np.int32]
    """The reference word, or -1 where there is none for it."""
    distances: NDArray[np.float64]
    """Affix distance to it, 0 (equal) to 1 (nothing in common, or no such word)."""


def alignments(words: Words, present: NDArray[np.uint8], systems: int) -> Alignments:
    """The one-to-one pairing of all words of the shorter side with the smallest sum of affix distances.

    Of several the one with the smallest sum of differences between the places of paired words; of several of those
    the one that gives the first hypothesis word the first reference word, then the second, and so on. Sums are
    exact where common substrings have up to 24 letters, else distances are rounded to 1 / 5,354,228,880. Words of
    more than 255 letters are only equal or not; where a side has more than 512 words, both are cut into as many
    pieces of even length, which are paired piece by piece. `present` is (references, segments).

    Parameters
    ----------
    words : Words
    present : ndarray of uint8
    systems : int

    Returns
    -------
    Alignments
    """
    letters, letter_starts = code_points(words)
    shape = len(present), int(words.starts[-1] - words.starts[present.size])
    matched, distances = np.empty(shape, np.int32), np.empty(shape)
    kernel("alignments")(
        words.ids, words.starts, present, letters, letter_starts, words.types, systems, matched, distances
    )
    return Alignments(matched, distances)
