"""AutoRank on a leaderboard: from the scores and replicates of its ranked systems, whenever these are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import MetricsError
from steelyard.metrics.registry import parse_metric
from steelyard.ranking.autorank import AUTORANK
from steelyard.ranking.autorank_column import AutoRank

Floats = NDArray[np.float64]


class Scored(Protocol):
    """A score of a system, however it was read."""

    @property
    def higher_is_better(self) -> bool:
        """Whether more is better."""

    @property
    def score(self) -> float | None:
        """None where it is undefined."""


AnyScore = TypeVar("AnyScore", bound=Scored)


def autorank_columns(metrics: Sequence[str]) -> dict[int, AutoRank]:
    """The AutoRanks among the metrics of a protocol, by position."""
    found = {}
    for position, specification in enumerate(metrics):
        if specification.partition(":")[0] == AUTORANK:
            try:
                metric = parse_metric(specification)
                wanted = metric.positions if isinstance(metric, AutoRank) else []
            except MetricsError:
                # From another release, or edited by hand: it stays undefined.
                continue
            if isinstance(metric, AutoRank) and wanted and max(wanted) < len(metrics):
                found[position] = metric
    return found


def autoranks(
    column: AutoRank, systems: Sequence[Sequence[AnyScore]], replicates_of: Callable[[int, int], Floats]
) -> dict[int, tuple[float, Floats]]:
    """The AutoRank of each system that has a score by all of its metrics, among these systems: value and replicates.

    Parameters
    ----------
    column : AutoRank
    systems : sequence of sequences of scores
        Those of each system in the protocol's order.
    replicates_of : callable
        From a system's number and the position of a metric to its replicate scores, (replicates,).

    Returns
    -------
    dict of int to (float, ndarray of float64, shape (replicates,))
        By the number of the system.
    """
    chosen = [
        number
        for number, scores in enumerate(systems)
        if scores and all(scores[metric].score is not None for metric in column.positions)
    ]
    if not chosen:
        return {}
    signs = [1.0 if systems[chosen[0]][metric].higher_is_better else -1.0 for metric in column.positions]
    scores = [[systems[number][metric].score for number in chosen] for metric in column.positions]
    ranks = column.ranks(np.array(scores, dtype=np.float64) * np.array(signs)[:, np.newaxis])
    replicates = np.stack(
        [
            sign * np.stack([replicates_of(number, metric) for number in chosen], axis=1)
            for sign, metric in zip(signs, column.positions, strict=True)
        ],
        axis=1,
    )
    # A score of systems alone has no replicates, and so AutoRank has none.
    drawn = np.full(replicates.shape[::2], np.nan) if np.isnan(replicates).any() else column.ranks(replicates)
    return {number: (float(ranks[place]), drawn[:, place]) for place, number in enumerate(chosen)}
