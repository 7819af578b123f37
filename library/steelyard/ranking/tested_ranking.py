"""Systems ranked by paired tests, by each of several metrics, with the limits of these tests."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steelyard.ranking.clusters import rank_by_tests
from steelyard.resampling.draws_needed import smallest_p
from steelyard.resampling.paired import FEW_SEGMENTS, few_segments

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from steelyard.ranking.clusters import SystemRank
    from steelyard.resampling.paired import PairedResult

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ranking:
    """The ranks of systems by each metric, and the tests behind them."""

    test: str
    """"bootstrap" or "randomization"."""
    alpha: float
    correction: str
    draws: int
    """Replicates or trials of each test."""
    ranks: Sequence[Sequence[SystemRank | None]] = ()
    """By metric and system; empty where nothing could be tested."""
    fault: str = ""
    """Why nothing could be tested, or what limits the tests; sentences, or empty."""


def rank_tested(
    ranking: Ranking,
    scores: Floats,
    ranked: Sequence[int],
    results: Sequence[Sequence[PairedResult]],
    *,
    higher_is_better: Sequence[bool],
    titles: Sequence[str],
    segments: int,
) -> Ranking:
    """The ranking with ranks and faults.

    Parameters
    ----------
    ranking : Ranking
        The tests.
    scores : ndarray of float64, shape (metrics, systems)
        NaN for systems without a score.
    ranked : sequence of int
        The systems that are ranked; no other counts.
    results : sequence of sequence of PairedResult
        For each metric the tests of all pairs of these systems, by position in `ranked`, with corrected p-values.
    higher_is_better : sequence of bool
        The direction of each metric.
    titles : sequence of str
        Of the metrics, for faults.
    segments : int
        Of the test set.

    Returns
    -------
    Ranking
    """
    found = []
    for values, of_metric, higher in zip(scores, results, higher_is_better, strict=True):
        ranks_of: list[SystemRank | None] = [None] * len(values)
        places = rank_by_tests(values[list(ranked)], of_metric, ranking.alpha, higher_is_better=higher)
        for system, rank in zip(ranked, places, strict=True):
            ranks_of[system] = rank
        found.append(ranks_of)
    return replace(ranking, ranks=found, fault=" ".join(_faults(ranking, results, titles, segments)))


def _faults(
    ranking: Ranking, results: Sequence[Sequence[PairedResult]], titles: Sequence[str], segments: int
) -> list[str]:
    tests = max((sum(not math.isnan(pair.p) for pair in of_metric) for of_metric in results), default=0)
    least = smallest_p(ranking.draws, tests, ranking.correction)
    unknown = [pair for of_metric in results for pair in of_metric if math.isnan(pair.p)]
    faults = []
    if tests and least >= ranking.alpha:
        what = "replicates" if ranking.test == "bootstrap" else "trials"
        faults.append(
            f"{ranking.draws:,} {what} are too few: no p-value can be below {least:.3g}, so no systems are separated."
        )
    if unknown:
        names = ", ".join(dict.fromkeys(titles[pair.metric] for pair in unknown))
        faults.append(
            f"Pairs that could not be tested by {names}, because resamples have no score or are all alike: "
            f"{len(unknown)}."
        )
    if tests and ranking.test == "bootstrap" and segments < FEW_SEGMENTS:
        faults.append(f"{few_segments(segments)}.")
    return faults
