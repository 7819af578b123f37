"""Translation edit rate of all systems of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from metrics.kernels.loader import INTEGER, POINTER, address, checked, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from metrics.kernels.words import Words


def least_edits(words: Words, present: NDArray[np.uint8], systems: int) -> NDArray[np.int64]:
    """The fewest edits over the references that are present: (systems, segments).

    `present` is (references, segments), with at least one 1 per segment. Raises MemoryError where the tables of the
    longest segment do not fit.
    """
    references, segments = present.shape
    types = int(words.ids.max(initial=-1)) + 1
    out = np.empty((systems, segments), np.int64)
    function = kernel("ter_least_edits", *[POINTER] * 3, *[INTEGER] * 4, POINTER)
    checked(
        function(
            address(words.ids),
            address(words.starts),
            address(present),
            types,
            references,
            systems,
            segments,
            address(out),
        )
    )
    return out
