"""Ranks of systems by human judgments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.ranking.clusters import clusters, rank_systems

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class HumanRank:
    """As `steelyard.ranking.clusters.SystemRank`; None is what cannot be known."""

    rank: int
    low: int | None = None
    high: int | None = None
    cluster: int | None = None
    wins: int | None = None
    cluster_ranks: tuple[int, int] | None = None


def human_ranks(scores: Sequence[float], better: NDArray[np.bool_]) -> list[HumanRank]:
    """Ranks, rank ranges and clusters by human scores.

    Parameters
    ----------
    scores : sequence of float, (systems,)
    better : ndarray of bool, shape (systems, systems)
        `better[a, b]`: a is better than b beyond chance.

    Returns
    -------
    list of HumanRank
        In the order of the scores.
    """
    return [
        HumanRank(found.rank, found.low, found.high, found.cluster, found.wins, found.cluster_ranks)
        for found in rank_systems(scores, better)
        if found is not None
    ]


def human_ranks_by_wins(scores: Sequence[float], wins: Sequence[int | None]) -> list[HumanRank]:
    """Ranks and clusters of systems of which only the numbers of wins are known, without rank ranges.

    Parameters
    ----------
    scores : sequence of float, (systems,)
    wins : sequence of int or None, (systems,)
        Without clusters where one is None.

    Returns
    -------
    list of HumanRank
        In the order of the scores.
    """
    order = sorted(range(len(scores)), key=lambda system: -scores[system])
    ranks = [1 + sum(other > score for other in scores) for score in scores]
    known = [won for won in wins if won is not None]
    if len(known) < len(scores):
        return [HumanRank(rank) for rank in ranks]
    found = [HumanRank(rank) for rank in ranks]
    runs = clusters([scores[system] for system in order], [known[system] for system in order])
    for number, (first, last) in enumerate(runs, 1):
        for system in order[first - 1 : last]:
            found[system] = HumanRank(ranks[system], cluster=number, wins=known[system], cluster_ranks=(first, last))
    return found
