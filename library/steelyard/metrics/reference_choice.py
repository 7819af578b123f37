"""Choosing among several references of a segment the one that serves the hypothesis best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words

    Integers = NDArray[np.int64]


def lengths(words: Words, present: NDArray[np.uint8], systems: int) -> tuple[Integers, Integers]:
    """How many words references and hypotheses have: (references, segments), (systems, segments)."""
    references, segments = present.shape
    every = words.lengths.reshape(references + systems, segments)
    return every[:references], every[references:]


def least(values: Integers, reference_lengths: Integers, present: NDArray[np.uint8]) -> tuple[Integers, Integers]:
    """The least value and the length of its reference, the shorter one on ties: (systems, segments) each.

    `values` is (references, systems, segments); only references that `present` (references, segments) has count. At
    least one must be present.
    """
    best, length = values[0], np.broadcast_to(reference_lengths[0], values[0].shape)
    here = np.broadcast_to(present[0] > 0, best.shape)
    for value, others, there in zip(values[1:], reference_lengths[1:], present[1:] > 0, strict=True):
        better = there & (~here | (value < best) | ((value == best) & (others < length)))
        best, length, here = np.where(better, value, best), np.where(better, others, length), here | there
    return best, length
