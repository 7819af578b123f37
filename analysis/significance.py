"""Which differences on a leaderboard are more than chance, and the ranks that follow from them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from metrics.ranking import places
from metrics.resampling.bootstrap_p import bootstrap_p_values
from metrics.resampling.correction import corrected
from metrics.resampling.paired import FEW_SEGMENTS, PairedResult, few_segments, pairs_to_test, smallest_p

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.board import Board
    from metrics.ranking import Place

ALPHA = 0.05
"""Differences with a smaller p-value are more than chance."""

PAIRS_AT_ONCE = 64
"""Pairs whose replicates are compared at a time: they fit a cache."""


@dataclass(frozen=True)
class Ranking:
    """Where the systems of a board stand by each metric, and by which tests."""

    test: str
    """"bootstrap" or "randomization"."""
    alpha: float
    correction: str
    places: Sequence[Sequence[Place | None]]
    """By metric and row of the board; empty where nothing could be tested."""
    fault: str = ""
    """Why nothing could be tested, or what keeps the tests from their promise; sentences, or empty."""


def bootstrap_pairs(
    board: Board, metric: int, *, baseline: int | None = None, correction: str = "holm", intervals: bool = True
) -> list[PairedResult]:
    """All pairs of a board's systems, or every other one against a baseline, by one of its metrics.

    Systems are positions in `board.rows`; those without a score are left out. Empty where there are no replicates.
    Without `intervals` the results have none, which is quicker.
    """
    if not board.listed.replicates:
        return []
    scores = board.scores(metric)
    known = (~np.isnan(scores)).tolist()
    pairs = [(a, b) for a, b in pairs_to_test(len(scores), baseline) if known[a] and known[b]]
    undefined = np.full(board.listed.replicates, np.nan)
    replicates = np.stack([row.scores[metric].replicate_scores if row.scores else undefined for row in board.rows])
    found: list[PairedResult] = []
    for begin in range(0, len(pairs), PAIRS_AT_ONCE):
        some = pairs[begin : begin + PAIRS_AT_ONCE]
        first, second = (list(side) for side in zip(*some, strict=True))
        differences, resampled = scores[second] - scores[first], replicates[second] - replicates[first]
        p_values = bootstrap_p_values(differences, resampled).tolist()
        ends = board.intervals_of_differences(metric, some, resampled) if intervals else [None] * len(some)
        for (a, b), difference, p, interval in zip(some, differences.tolist(), p_values, ends, strict=True):
            found.append(PairedResult(a, b, metric, difference, p, interval=interval))
    return with_correction(found, correction)


def with_correction(pairs: Sequence[PairedResult], correction: str) -> list[PairedResult]:
    """The results of one family of tests with corrected p-values."""
    family = corrected([pair.p for pair in pairs], correction)
    # As `replace`, which takes three times as long: a hundred systems are thousands of pairs.
    return [
        PairedResult(pair.a, pair.b, pair.metric, pair.difference, pair.p, p, pair.interval)
        for pair, p in zip(pairs, family.tolist(), strict=True)
    ]


def board_places(board: Board, metric: int, pairs: Sequence[PairedResult], alpha: float = ALPHA) -> list[Place | None]:
    """Ranks, rank ranges and clusters of a board's systems by one metric, from all its pairs; in the rows' order.

    A system is better than another where the corrected p-value of their difference is below `alpha`.
    """
    better = np.zeros((len(board.rows), len(board.rows)), np.bool_)
    for pair in pairs:
        if pair.p_corrected < alpha:
            # The better score decides which of the two has won.
            better[pair.a, pair.b] = better[pair.b, pair.a] = True
    return places(board.scores(metric).tolist(), better, higher_is_better=board.higher_is_better(metric))


def ranked_by_bootstrap(board: Board, *, alpha: float = ALPHA, correction: str = "none") -> Board:
    """The board with places by every metric, from the replicates that are stored.

    Without correction it is WMT's rule.
    """
    ranking = Ranking("bootstrap", alpha, correction, (), "")
    if not board.listed.replicates:
        fault = "No replicates were stored (--confidence 0), so there are no rank ranges and clusters."
        return replace(board, ranking=replace(ranking, fault=fault))
    pairs = [
        bootstrap_pairs(board, n, correction=correction, intervals=False) for n in range(len(board.listed.metrics))
    ]
    return replace(board, ranking=ranking_of(board, pairs, ranking, board.listed.replicates))


def ranking_of(board: Board, pairs: Sequence[Sequence[PairedResult]], ranking: Ranking, resamples: int) -> Ranking:
    """The ranking with places from the pairs of every metric; `resamples` is the number of replicates or trials."""
    found = [board_places(board, metric, of_metric, ranking.alpha) for metric, of_metric in enumerate(pairs)]
    tests = max((sum(not math.isnan(pair.p) for pair in of_metric) for of_metric in pairs), default=0)
    least = smallest_p(resamples, tests, ranking.correction)
    unknown = [pair for of_metric in pairs for pair in of_metric if math.isnan(pair.p)]
    faults = []
    if tests and least >= ranking.alpha:
        what = "replicates" if ranking.test == "bootstrap" else "trials"
        faults.append(
            f"{resamples:,} {what} are too few: no p-value can be below {least:.3g}, so that nothing is parted."
        )
    if unknown:
        titles = ", ".join(dict.fromkeys(board.titles[pair.metric] for pair in unknown))
        faults.append(
            f"Pairs that could not be tested by {titles}, because resamples have no score or are all alike: "
            f"{len(unknown)}."
        )
    if tests and ranking.test == "bootstrap" and board.listed.segments < FEW_SEGMENTS:
        faults.append(f"{few_segments(board.listed.segments)}.")
    return replace(ranking, places=found, fault=" ".join(faults))
