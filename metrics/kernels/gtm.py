"""The runs of words that hypotheses share with their references, longest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from metrics.kernels.loader import INTEGER, POINTER, address, checked, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from metrics.kernels.words import Words

FEW = 1024
"""Up to so many pairs of equal words runs are listed one by one; the other way is as exact and has more to set up."""


def gtm_runs(
    words: Words, present: NDArray[np.uint8], systems: int, exponent: float, few: int = FEW
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The sum over the runs of length ** exponent, and what is left for a last run: (systems, segments) each.

    Runs are visited by length, then by place in the hypothesis, then in the references, the largest first, until
    as many words are matched as the hypothesis has or the average reference. The rest is what is then left of a
    run that is too long, as a numerator over the number of references that the segment has; it is not in the sum.
    `present` is (references, segments), with at least one 1 per segment; `few` is for tests.
    Raises MemoryError where the tables of the longest segment do not fit.
    """
    references, segments = present.shape
    longest = int(words.lengths[references * segments :].max(initial=0))
    # Python's power and not NumPy's: the latter's last digits differ between processors.
    powers = np.array([float(length) ** exponent for length in range(longest + 1)])
    types = int(words.ids.max(initial=-1)) + 1
    totals = np.empty((systems, segments))
    rests = np.empty((systems, segments), np.int64)
    function = kernel("gtm_runs", *[POINTER] * 3, *[INTEGER] * 4, POINTER, INTEGER, *[POINTER] * 2)
    checked(
        function(
            address(words.ids), address(words.starts), address(present),
            types, references, systems, segments,
            address(powers), few, address(totals), address(rests),
        )
    )  # fmt: skip
    return totals, rests
