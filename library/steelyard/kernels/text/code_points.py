"""The letters of words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words


def code_points(words: Words) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Code points of all distinct words, and where each word begins among them: word w is [starts[w], starts[w+1]).

    Parameters
    ----------
    words : Words

    Returns
    -------
    (ndarray of uint32, ndarray of int64)
    """
    codes = np.frombuffer(words.lines.decode().encode("utf-32-le"), np.uint32)
    ends = codes == ord("\n")
    starts = np.zeros(words.types + 1, np.int64)
    starts[1:] = np.flatnonzero(ends) - np.arange(words.types)
    return codes[~ends], starts


def numbered(codes: NDArray[np.uint32]) -> tuple[NDArray[np.int32], int]:
    """Code points as numbers from 1 on in the same order, and how many numbers there are; 0 is left for the blank.

    Parameters
    ----------
    codes : ndarray of uint32

    Returns
    -------
    (ndarray of int32, int)
    """
    used = np.zeros(int(codes.max(initial=0)) + 1, bool)
    used[codes] = True
    numbers = np.cumsum(used, dtype=np.int32)
    return numbers[codes], int(numbers[-1]) + 1
