"""Translation edit rate of all systems of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from metrics.kernels.loader import INTEGER, POINTER, address, checked, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from metrics.kernels.words import Words

UNIT = 720_720
"""Parts of a word that fractions of average lengths are counted in: divisible by every number up to 16."""


def ter_statistics(words: Words, present: NDArray[np.uint8], systems: int) -> NDArray[np.float64]:
    """Edits and average reference length: (systems, segments, 3), all whole numbers.

    Columns: fewest edits over the references that are present; the average length of those in words, rounded down;
    what is missing to the average, in parts of UNIT (exact for up to 16 references and for every number that
    divides UNIT, else rounded). `present` is (references, segments), with at least one 1 per segment.
    Raises MemoryError where the tables of the longest segment do not fit.
    """
    references, segments = present.shape
    types = int(words.ids.max(initial=-1)) + 1
    out = np.empty((systems, segments, 3))
    function = kernel("ter_statistics", *[POINTER] * 3, *[INTEGER] * 5, POINTER)
    checked(
        function(
            address(words.ids),
            address(words.starts),
            address(present),
            types,
            references,
            systems,
            segments,
            UNIT,
            address(out),
        )
    )
    return out
