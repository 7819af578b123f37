"""Calls the kernels that compare the words of each hypothesis with those of each reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words


def for_each_pair(kernel_name: str, words: Words, present: NDArray[np.uint8], systems: int) -> NDArray[np.int64]:
    """One integer per pair: (references, systems, segments).

    -1 where `present` (references, segments) is 0.

    Parameters
    ----------
    kernel_name : str
    words : Words
    present : ndarray of uint8
    systems : int

    Returns
    -------
    ndarray of int64
    """
    references, segments = present.shape
    out = np.empty((references, systems, segments), np.int64)
    types = int(words.ids.max(initial=-1)) + 1
    kernel(kernel_name)(words.ids, words.starts, present, types, systems, out)
    return out
