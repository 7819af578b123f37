"""The average length of a segment's references, as statistics whose sums are exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNIT = 720_720
"""Parts of a word that fractions of average lengths are counted in: divisible by every number up to 16."""
COLUMNS = ("ref_len", "ref_len_rest")


def average_lengths(lengths: NDArray[np.int64], present: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Whole words and the rest in parts of UNIT, as COLUMNS: (segments, 2).

    The rest is exact for up to 16 references and for every number that divides UNIT, else rounded. `lengths` and
    `present` are (references, segments), with at least one 1 per segment.
    """
    counts = present.sum(axis=0, dtype=np.int64)
    whole, left = np.divmod((lengths * present).sum(axis=0), counts)
    return np.stack([whole, (left * UNIT * 2 + counts) // (2 * counts)], axis=-1)


def summed_length(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """The words that sums of COLUMNS stand for: (..., 2) -> (...)."""
    words: NDArray[np.float64] = columns[..., 0] + columns[..., 1] / UNIT
    return words
