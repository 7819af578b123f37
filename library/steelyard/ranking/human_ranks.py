"""Where systems stand in the eyes of people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.ranking.clusters import clusters, places

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Standing:
    """As `steelyard.ranking.clusters.Place`; None is what cannot be known."""

    rank: int
    low: int | None = None
    high: int | None = None
    cluster: int | None = None
    wins: int | None = None
    cluster_ranks: tuple[int, int] | None = None


def standings(scores: Sequence[float], better: NDArray[np.bool_]) -> list[Standing]:
    """Of systems with a score each, in their order; `better[a, b]` says that a is better than b beyond chance."""
    return [
        Standing(place.rank, place.low, place.high, place.cluster, place.wins, place.cluster_ranks)
        for place in places(scores, better)
        if place is not None
    ]


def standings_by_wins(scores: Sequence[float], wins: Sequence[int | None]) -> list[Standing]:
    """Of systems of which only the numbers of wins are known: ranks and clusters, but no rank ranges.

    Only ranks where some of the numbers are None.
    """
    order = sorted(range(len(scores)), key=lambda system: -scores[system])
    ranks = [1 + sum(other > score for other in scores) for score in scores]
    known = [won for won in wins if won is not None]
    if len(known) < len(scores):
        return [Standing(rank) for rank in ranks]
    found = [Standing(rank) for rank in ranks]
    runs = clusters([scores[system] for system in order], [known[system] for system in order])
    for number, (first, last) in enumerate(runs, 1):
        for system in order[first - 1 : last]:
            found[system] = Standing(ranks[system], cluster=number, wins=known[system], cluster_ranks=(first, last))
    return found
