"""Words for kernel tests, from lists of numbers."""

from itertools import accumulate

import numpy as np

from steelyard.kernels.text.words import Words


def words_of(references: list[list[list[int]]], systems: list[list[list[int]]]) -> Words:
    """Texts are lists of segments, segments are lists of small numbers that stand for words."""
    rows = [row for text in (*references, *systems) for row in text]
    ids = np.array([word for row in rows for word in row], np.int32)
    starts = np.array([0, *accumulate(len(row) for row in rows)], np.int64)
    return Words(ids, starts, int(ids.max(initial=-1)) + 1, b"")
