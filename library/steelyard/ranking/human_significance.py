"""Which systems people find better than others beyond chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.numerics.distributions import mann_whitney_p, sign_p

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steelyard.meta_evaluation.human.rankings import Comparisons

ALPHA = 0.05
"""Where a test gives less, a system is better than another."""


def mann_whitney(segments: Sequence[NDArray[np.float64]], *, shared: bool = False) -> NDArray[np.float64]:
    """p-values of one-sided Mann-Whitney tests on the scores of segments.

    Parameters
    ----------
    segments : sequence of ndarray of float64, shape (segments,)
        One for each system; NaN where a segment was not judged.
    shared : bool
        Whether only segments judged of both systems are compared, as WMT22's make_rankings.py (humaneval/DA+SQM) does,
        and not all segments of both, as WMT does with ratings of crowd workers.

    Returns
    -------
    ndarray of float64, shape (systems, systems)
        Entry (a, b) is the probability of scores as high as those of a if it is no better than b; NaN where there is
        none.
    """
    p = np.full((len(segments), len(segments)), np.nan)
    for a, first in enumerate(segments):
        for b, second in enumerate(segments):
            judged_a, judged_b = ~np.isnan(first), ~np.isnan(second)
            if shared:
                judged_a = judged_b = judged_a & judged_b
            if a != b and judged_a.any() and judged_b.any():
                p[a, b] = mann_whitney_p(first[judged_a], second[judged_b])
    return p


def sign_test(systems: Sequence[str], counted: Comparisons) -> NDArray[np.float64]:
    """p-values of one-sided sign tests on direct comparisons, ties left out.

    WMT's test for relative rankings (Callison-Burch et al. 2011).

    Parameters
    ----------
    systems : sequence of str
    counted : Comparisons

    Returns
    -------
    ndarray of float64, shape (systems, systems)
        As of `mann_whitney`.
    """
    p = np.full((len(systems), len(systems)), np.nan)
    for a, first in enumerate(systems):
        for b, second in enumerate(systems):
            above, _, below = counted.of(first, second)
            if a != b and above + below:
                p[a, b] = sign_p(above, above + below)
    return p
