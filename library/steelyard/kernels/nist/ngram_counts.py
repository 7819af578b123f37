"""Counting every n-gram of a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.uint32]


def ngram_counts(
    words: NDArray[np.int32], starts: NDArray[np.int64], types: int, deepest: int, *, repeated: bool = False
) -> tuple[Numbers, Numbers, Numbers]:
    """The n-grams of 1 to `deepest` words as a trie: children, last words and counts of its nodes.

    Row r of the text is `words[starts[r]:starts[r + 1]]`, numbers below `types`. Nodes come level by level, those of
    a level by their parents and then by their last word; `children` says how many each has on the next level. With
    `repeated` those that begin with an n-gram that occurs once are left out: each always follows its context.

    Parameters
    ----------
    words : ndarray of int32
    starts : ndarray of int64
    types : int
    deepest : int
    repeated : bool, optional

    Returns
    -------
    (Numbers, Numbers, Numbers)
    """
    size = int(starts[-1])
    tables = [np.empty((deepest, size), np.uint32) for _ in range(3)]
    sizes = np.zeros(deepest, np.int64)
    kernel("ngram_counts")(words, starts, types, deepest, repeated, *tables, sizes)
    children, last, counts = (
        np.concatenate([level[:used] for level, used in zip(table, sizes.tolist(), strict=True)]) for table in tables
    )
    return children, last, counts
