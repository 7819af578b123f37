"""Calls the kernels that compare the words of each hypothesis with those of each reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from metrics.kernels.loader import INTEGER, POINTER, address, checked, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from metrics.kernels.words import Words


def for_each_pair(kernel_name: str, words: Words, present: NDArray[np.uint8], systems: int) -> NDArray[np.int64]:
    """One integer per pair: (references, systems, segments).

    -1 where `present` (references, segments) is 0.
    """
    references, segments = present.shape
    out = np.empty((references, systems, segments), np.int64)
    types = int(words.ids.max(initial=-1)) + 1
    function = kernel(kernel_name, *[POINTER] * 3, *[INTEGER] * 4, POINTER)
    result = function(
        address(words.ids), address(words.starts), address(present),
        types, references, systems, segments, address(out),
    )  # fmt: skip
    checked(result)
    return out
