"""Soft pairwise accuracy: whether the metric parts systems as surely as people do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.fixed_point import on_grid
from steelyard.resampling.randomization import sign_flips

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

PERMUTATIONS = 1000
"""As in the WMT24 metrics task."""

AT_ONCE = 250
"""Permutations worked on at once."""


def soft_pairwise_accuracy(human_p: Floats, metric_p: Floats, counts: NDArray[np.integer] | None = None) -> Floats:
    """1 - the mean over pairs of |p by people - p by the metric| (Thompson et al. 2024, section 3).

    Parameters
    ----------
    human_p, metric_p : ndarray of float64, shape (pairs,)
        Of `better_p` on the segments that both sides have; pairs without one are left out.
    counts : ndarray of integers, shape (B, systems), optional
        How often each replicate draws each system.

    Returns
    -------
    ndarray of float64, shape (B,), or () without counts
        NaN where there is no pair.
    """
    known = ~np.isnan(human_p) & ~np.isnan(metric_p)
    # On the grid, so that sums are exact in any order.
    errors = on_grid(np.where(known, np.abs(human_p - metric_p), 0.0))
    weights = known.astype(np.float64)
    if counts is not None:
        first, second = np.triu_indices(counts.shape[-1], 1)
        drawn = counts.astype(np.float64)
        weights = weights * drawn[..., first] * drawn[..., second]
    with np.errstate(invalid="ignore"):
        found: Floats = 1 - (weights * errors).sum(-1) / weights.sum(-1)
    return found


def better_p(scores: Floats, judged: NDArray[np.bool_], seed: int, permutations: int = PERMUTATIONS) -> Floats:
    """One-sided p-values that the first system of each pair is better, by paired permutation tests.

    In each permutation the two outputs of a segment change places or not; all pairs share the draws. p is the share of
    permutations whose difference is larger than the real one, those of the same difference counted half: so the p-value
    of the pair the other way round is 1 - p, and the order of the systems does not matter.

    Parameters
    ----------
    scores : ndarray of float64, shape (systems, segments)
    judged : ndarray of bool, shape (systems, segments)
        A pair is tested on the segments where both systems are judged.
    seed : int
    permutations : int

    Returns
    -------
    ndarray of float64, shape (pairs,)
        In the order of `numpy.triu_indices`; NaN where they share no segment.
    """
    first, second = np.triu_indices(len(scores), 1)
    # On the grid: equal differences are then found equal.
    known = np.where(judged, on_grid(np.where(judged, scores, 0.0)), np.nan)
    differences = known[first] - known[second]
    shared = ~np.isnan(differences)
    differences = np.where(shared, differences, 0.0)
    real = differences.sum(1)
    half_counts = np.zeros(len(first))
    for begin in range(0, permutations, AT_ONCE):
        swapped = sign_flips(scores.shape[1], seed, begin, min(begin + AT_ONCE, permutations))
        permuted = differences @ np.where(swapped, -1.0, 1.0).T
        half_counts += 2 * (permuted > real[:, None]).sum(1) + (permuted == real[:, None]).sum(1)
    return np.where(shared.any(1), half_counts / (2 * permutations), np.nan)
