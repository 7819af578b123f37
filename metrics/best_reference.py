"""Choosing among several references of a segment the one that serves the hypothesis best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from metrics.kernels.words import Words

    Integers = NDArray[np.int64]


def lengths(words: Words, present: NDArray[np.uint8], systems: int) -> tuple[Integers, Integers]:
    """How many words references and hypotheses have: (references, segments), (systems, segments)."""
    references, segments = present.shape
    every = words.lengths.reshape(references + systems, segments)
    return every[:references], every[references:]


def least(values: Integers, reference_lengths: Integers, present: NDArray[np.uint8]) -> tuple[Integers, Integers]:
    """The least value and the length of its reference, the shorter one on ties: (systems, segments) each.

    `values` (references, systems, segments) may be negative, but stay within 32 bits, as lengths do; only
    references that `present` (references, segments) has count. At least one must be present.
    """
    if len(values) == 1:
        return values[0], np.broadcast_to(reference_lengths[0], values[0].shape)
    # Both in one number, so that one minimum compares first the values and then the lengths.
    both = (values << 32) + reference_lengths[:, None, :]
    both = np.where(present[:, None, :] > 0, both, np.iinfo(np.int64).max).min(axis=0)
    return both >> 32, both & 0xFFFFFFFF
