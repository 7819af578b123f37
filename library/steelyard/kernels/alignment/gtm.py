"""The runs of words that hypotheses share with their references, longest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel
from steelyard.kernels.numerics.elementary import power_of_each

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words

MOST_PAIRS = 1 << 20
"""Pairs of equal words of a segment that are looked at, as in gtm.c; other words of the hypothesis are in no run."""


def gtm_runs(
    words: Words, present: NDArray[np.uint8], systems: int, exponent: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The sum over the runs of length ** exponent, and what is left for a last run: (systems, segments) each.

    Runs are visited by length, then by place in the hypothesis, then in the references, the largest first, until
    as many words are matched as the hypothesis has or the average reference. The rest is what is then left of a
    run that is too long, as a numerator over the number of references that the segment has; it is not in the sum.
    `present` is (references, segments), with at least one 1 per segment.
    Pairs of equal words count up to MOST_PAIRS, from the first word of the hypothesis on. Raises MemoryError where the
    tables of the longest segment do not fit.

    Parameters
    ----------
    words : Words
    present : ndarray of uint8
    systems : int
    exponent : float

    Returns
    -------
    (ndarray of float64, ndarray of int64)
    """
    totals, rests, _, _ = _gtm_runs(words, present, systems, exponent, keep=False)
    return totals, rests


def taken_runs(
    words: Words, present: NDArray[np.uint8], systems: int
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """The runs themselves, how many each segment has, and what is left for the last one.

    (runs, 3) by system, segment and then in the order in which they were taken: words, place in the hypothesis, place
    in the references that the segment has, which stand one after the other with one place before, between and behind
    them. Then (systems, segments) twice, the rests as in `gtm_runs`: where one is not 0, the last run has been cut to
    it, and its words are those of which at least a part counts. Raises MemoryError.

    Parameters
    ----------
    words : Words
    present : ndarray of uint8
    systems : int

    Returns
    -------
    (ndarray of int32, ndarray of int64, ndarray of int64)
    """
    _, rests, taken, counts = _gtm_runs(words, present, systems, 1.0, keep=True)
    first = words.starts[present.size : -1] - words.starts[present.size]
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts.ravel()) - counts.ravel(), counts.ravel())
    return taken[np.repeat(first, counts.ravel()) + within], counts, rests


def _gtm_runs(
    words: Words, present: NDArray[np.uint8], systems: int, exponent: float, *, keep: bool
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    references, segments = present.shape
    longest = int(words.lengths[references * segments :].max(initial=0))
    powers = power_of_each(np.arange(longest + 1.0), exponent)
    types = int(words.ids.max(initial=-1)) + 1
    totals = np.empty((systems, segments))
    rests = np.empty((systems, segments), np.int64)
    kept = int(words.starts[-1] - words.starts[references * segments]) if keep else 0
    taken, counts = np.empty((kept, 3), np.int32), np.zeros((systems, segments), np.int64)
    kernel("gtm_runs")(
        words.ids, words.starts, present, types, systems, powers, totals, rests, taken if keep else None, counts
    )
    return totals, rests, taken, counts
