"""Segments by length."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from steelyard.text.languages import UNSEPARATED, main_code

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

WORDS = (10, 20, 30, 40, 50, 60)
"""The longest of each bucket, in words; one more is for what is longer."""
CHARACTERS = (10, 20, 40, 60, 80, 120)
"""The same where words are not separated."""


def counts_characters(language: str) -> bool:
    """Whether the length of a text in this language, a code such as `zh-CN`, is counted in characters."""
    return main_code(language) in UNSEPARATED


def reference_lengths(references: Sequence[Sequence[str]], *, characters: bool) -> NDArray[np.float64]:
    """The mean length of each segment's references; those that are empty count only where all are. (segments,).

    In words as white space separates them, or in characters without white space.
    """
    lengths = np.array(
        [
            [len("".join(line.split())) if characters else len(line.split()) for line in reference]
            for reference in references
        ],
        np.float64,
    )
    filled = (lengths > 0).sum(axis=0)
    mean: NDArray[np.float64] = lengths.sum(axis=0) / np.maximum(filled, 1)
    return mean


def length_buckets(lengths: NDArray[np.float64], ends: Sequence[int]) -> tuple[list[str], NDArray[np.int64]]:
    """Names of the buckets, such as "11–20", and the bucket of each segment. A mean length of 10.5 is above 10."""
    between = [f"{low + 1}–{high}" for low, high in pairwise(ends)]
    names = [f"up to {ends[0]}", *between, f"over {ends[-1]}"]
    return names, np.searchsorted(np.array(ends), lengths, side="left").astype(np.int64)
