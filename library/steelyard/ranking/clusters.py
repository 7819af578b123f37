"""Ranks of systems that say how sure they are: rank ranges and clusters by WMT's rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steelyard.resampling.paired import PairedResult


@dataclass(frozen=True, slots=True)
class SystemRank:
    """The rank of a system, and how sure it is."""

    rank: int
    """By score, from 1; equal scores share one, and as many ranks are left out after it."""
    low: int
    """The best rank that it may have: 1 + the number of systems that won against it."""
    high: int
    """The worst: the number of systems - the number of those it won against."""
    cluster: int
    """From 1."""
    wins: int
    """The number of systems that it is better than beyond chance."""
    cluster_ranks: tuple[int, int]
    """The first and the last rank of its cluster: what some of WMT's tables print as the rank of all systems in it."""


def rank_systems(
    scores: Sequence[float], better: NDArray[np.bool_], *, higher_is_better: bool = True
) -> list[SystemRank | None]:
    """Ranks, rank ranges and clusters of systems.

    The rule is that of WMT's make_rankings.py (2022, humaneval/DA+SQM): walking down the order of scores, a cluster
    ends after a system when the smallest number of wins in it equals the number of systems below. Where the tests
    agree among themselves that means that every system above beats every system below. Systems of equal scores are
    never parted.

    Parameters
    ----------
    scores : sequence of float, (systems,)
        NaN for a system without a score, which is not ranked and counts for no other.
    better : ndarray of bool, shape (systems, systems)
        `better[a, b]`: a is better than b beyond chance. A win takes the better score, too: what a test says against
        the order of scores does not count, and equal scores win nothing.
    higher_is_better : bool
        The metric's direction.

    Returns
    -------
    list of SystemRank or None
        In the order of the scores; None for systems that are not ranked.
    """
    values = np.asarray(scores, dtype=np.float64) * (1.0 if higher_is_better else -1.0)
    # False wherever one of the two is NaN.
    won = np.asarray(better, dtype=np.bool_) & (values[:, None] > values[None, :])
    wins, losses = won.sum(axis=1).tolist(), won.sum(axis=0).tolist()
    order = sorted(np.flatnonzero(~np.isnan(values)).tolist(), key=lambda system: -values[system])
    found: list[SystemRank | None] = [None] * len(values)
    for number, (first, last) in enumerate(clusters([values[system] for system in order], [wins[s] for s in order]), 1):
        rank = first
        for position in range(first, last + 1):
            system = order[position - 1]
            if position == first or values[system] != values[order[position - 2]]:
                rank = position
            low, high = 1 + losses[system], len(order) - wins[system]
            found[system] = SystemRank(rank, low, high, number, wins[system], (first, last))
    return found


def rank_by_tests(
    scores: NDArray[np.float64], results: Sequence[PairedResult], alpha: float, *, higher_is_better: bool = True
) -> list[SystemRank | None]:
    """Ranks of systems by paired tests: one is better where the corrected p-value is below `alpha`.

    Parameters
    ----------
    scores : ndarray of float64, shape (systems,)
        NaN where undefined.
    results : sequence of PairedResult
        Of all pairs by one metric, with corrected p-values.
    alpha : float
    higher_is_better : bool
        The metric's direction.

    Returns
    -------
    list of SystemRank or None
        As `rank_systems`.
    """
    better = np.zeros((len(scores), len(scores)), np.bool_)
    for result in results:
        if result.p_corrected < alpha:
            # The better score decides which of the two has won.
            better[result.a, result.b] = better[result.b, result.a] = True
    return rank_systems(scores.tolist(), better, higher_is_better=higher_is_better)


def clusters(values: Sequence[float], wins: Sequence[int]) -> list[tuple[int, int]]:
    """The first and the last position of every cluster, from 1.

    Parameters
    ----------
    values : sequence of float
        Scores, the best first.
    wins : sequence of int
        In the same order.

    Returns
    -------
    list of (int, int)
    """
    found, first, least = [], 1, len(values)
    for position, won in enumerate(wins, 1):
        least = min(least, won)
        tied = position < len(values) and values[position] == values[position - 1]
        if not tied and least == len(values) - position:
            found.append((first, position))
            first, least = position + 1, len(values)
    return found
