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
    """The average length of each segment's references, so that sums are exact.

    Exact for up to 16 references and for every number that divides UNIT, else rounded.

    Parameters
    ----------
    lengths : (references, segments) int64
        In words.
    present : (references, segments) uint8
        0 where the segment lacks that reference; at least one 1 per segment.

    Returns
    -------
    (segments, 2) int64
        Whole words, and the rest in parts of UNIT: COLUMNS.
    """
    counts = present.sum(axis=0, dtype=np.int64)
    whole, left = np.divmod((lengths * present).sum(axis=0), counts)
    return np.stack([whole, (left * UNIT * 2 + counts) // (2 * counts)], axis=-1)


def summed_length(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """The words that sums of COLUMNS stand for.

    Parameters
    ----------
    columns : (..., 2) float64

    Returns
    -------
    (...) float64
    """
    words: NDArray[np.float64] = columns[..., 0] + columns[..., 1] / UNIT
    return words
