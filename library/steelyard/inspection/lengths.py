"""Segments by length."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from steelyard.text.languages import UNSEPARATED, main_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

WORDS = (10, 20, 30, 40, 50, 60)
"""The longest of each bucket, in words; one more is for what is longer."""
CHARACTERS = (10, 20, 40, 60, 80, 120)
"""The same where words are not separated."""


def counts_characters(language: str) -> bool:
    """Whether the length of a text in a language is counted in characters.

    Parameters
    ----------
    language : str
        A code such as `zh-CN`.

    Returns
    -------
    bool
    """
    return main_code(language) in UNSEPARATED


def reference_lengths(references: Sequence[Sequence[str]], *, characters: bool) -> NDArray[np.float64]:
    """The mean length of each segment's references.

    Parameters
    ----------
    references : sequence of sequence of str
        The lines of each reference; an empty one counts only where all are empty.
    characters : bool
        Whether to count characters that are no white space, not words that white space separates.

    Returns
    -------
    ndarray of float64, shape (segments,)
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


def length_buckets(lengths: Iterable[NDArray[np.float64]], ends: Sequence[int]) -> tuple[list[str], NDArray[np.int8]]:
    """The buckets that segments fall into by their length.

    Parameters
    ----------
    lengths : iterable of ndarray of float64, shape (segments of a part,)
        Of one part of the text after the other: of ten million segments, they are not held together.
    ends : sequence of int
        The longest of each bucket; a mean length of 10.5 is above 10.

    Returns
    -------
    names : list of str
        Such as "11–20"; one more than there are ends.
    bucket_of : ndarray of int8, shape (segments,)
    """
    between = [f"{low + 1}–{high}" for low, high in pairwise(ends)]
    names = [f"up to {ends[0]}", *between, f"over {ends[-1]}"]
    parts = [np.searchsorted(np.array(ends), each, side="left").astype(np.int8) for each in lengths]
    return names, np.concatenate([np.zeros(0, np.int8), *parts])
