"""Translation edit rate of all hypotheses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words


def least_edits(words: Words, present: NDArray[np.uint8], systems: int) -> NDArray[np.int64]:
    """The fewest edits over the references that are present: (systems, segments).

    `present` is (references, segments), with at least one 1 per segment. Raises MemoryError where the tables of the
    longest segment do not fit.

    Parameters
    ----------
    words : Words
    present : ndarray of uint8
    systems : int

    Returns
    -------
    ndarray of int64
    """
    types = int(words.ids.max(initial=-1)) + 1
    out = np.empty((systems, present.shape[1]), np.int64)
    kernel("ter_least_edits")(words.ids, words.starts, present, types, systems, out)
    return out
