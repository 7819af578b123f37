"""Choosing among several references of a segment the one that serves the hypothesis best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words

    Integers = NDArray[np.int64]


def lengths(words: Words, present: NDArray[np.uint8], systems: int) -> tuple[Integers, Integers]:
    """How many words references and hypotheses have.

    Parameters
    ----------
    words : Words
    present : (references, segments) uint8
        `Segments.reference_mask`.
    systems : int

    Returns
    -------
    references : (references, segments) int64
    hypotheses : (systems, segments) int64
    """
    references, segments = present.shape
    every = words.lengths.reshape(references + systems, segments)
    return every[:references], every[references:]


def least(values: Integers, reference_lengths: Integers, present: NDArray[np.uint8]) -> tuple[Integers, Integers]:
    """The least value of each segment and the length of its reference, the shorter one on ties.

    Parameters
    ----------
    values : (references, systems, segments) int64
    reference_lengths : (references, segments) int64
    present : (references, segments) uint8
        Only references that are present count; at least one must be.

    Returns
    -------
    value : (systems, segments) int64
    length : (systems, segments) int64
    """
    best, length = values[0], np.broadcast_to(reference_lengths[0], values[0].shape)
    here = np.broadcast_to(present[0] > 0, best.shape)
    for value, others, there in zip(values[1:], reference_lengths[1:], present[1:] > 0, strict=True):
        better = there & (~here | (value < best) | ((value == best) & (others < length)))
        best, length, here = np.where(better, value, best), np.where(better, others, length), here | there
    return best, length
