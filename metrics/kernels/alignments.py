"""Each hypothesis word with the reference word it stands for, by affix distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from metrics.kernels.letters import code_points
from metrics.kernels.loader import INTEGER, POINTER, address, checked, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from metrics.kernels.words import Words


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
    """
    references, segments = present.shape
    letters, letter_starts = code_points(words)
    total = int(words.starts[-1] - words.starts[references * segments])
    matched = np.empty((references, total), np.int32)
    distances = np.empty((references, total))
    function = kernel("alignments", *[POINTER] * 5, *[INTEGER] * 4, *[POINTER] * 2)
    checked(
        function(
            address(words.ids), address(words.starts), address(present), address(letters), address(letter_starts),
            words.types, references, systems, segments,
            address(matched), address(distances),
        )
    )  # fmt: skip
    return Alignments(matched, distances)
