"""Significant differences on a leaderboard, and the ranks that follow from them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from analysis.leaderboard.board import Ranking
from steelyard.ranking.clusters import rank_by_tests
from steelyard.resampling.paired import (
    FEW_SEGMENTS,
    PairedResult,
    bootstrap_p_of_pairs,
    few_segments,
    pairs_to_test,
    smallest_p,
    with_correction,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.leaderboard.board import Board
    from steelyard.ranking.clusters import SystemRank

ALPHA = 0.05
"""Differences with a smaller p-value are significant."""

CORRECTION = "none"
"""The tests of a leaderboard are not corrected for their number: WMT's rule. Other displays of differences use the same
default, so that they agree with the leaderboard."""


def compared_to_leaderboard(test: str, correction: str) -> str:
    """A sentence that relates displayed tests to those of the leaderboard."""
    if correction != CORRECTION:
        return "This is stricter than the leaderboard, whose tests are not corrected for their number."
    often = f"about {100 * ALPHA:g} of 100 pairs of equally good systems are marked by chance"
    if test != "bootstrap":
        return f"The leaderboard uses the paired bootstrap. Neither corrects for the number of pairs: {often}."
    return f"This is the rule of the leaderboard, which does not correct for the number of pairs: {often}."


def bootstrap_pairs(
    board: Board, metric: int, *, baseline: int | None = None, correction: str = CORRECTION, intervals: bool = True
) -> list[PairedResult]:
    """All pairs of a board's systems, or every other one against a baseline, by one of its metrics.

    Systems are positions in `board.rows`; those without a score are left out. Empty where there are no replicates.
    Without `intervals` the results have none, which is quicker.
    """
    if not board.listed.replicates:
        return []
    scores = board.scores(metric)
    pairs = scored_pairs(board, metric, baseline)
    p_values = bootstrap_p_of_pairs(scores, board.tested_replicates(metric), pairs)
    ends = board.intervals_of_differences(metric, pairs) if intervals else [None] * len(pairs)
    found = [
        PairedResult(a, b, metric, float(scores[b] - scores[a]), p, interval=interval)
        for (a, b), p, interval in zip(pairs, p_values, ends, strict=True)
    ]
    return with_correction(found, correction)


def scored_pairs(board: Board, metric: int, baseline: int | None = None) -> list[tuple[int, int]]:
    """The pairs of rows to test: both have a score by the metric."""
    known = (~np.isnan(board.scores(metric))).tolist()
    return [(a, b) for a, b in pairs_to_test(len(known), baseline) if known[a] and known[b]]


def board_ranks(
    board: Board, metric: int, pairs: Sequence[PairedResult], alpha: float = ALPHA
) -> list[SystemRank | None]:
    """Ranks, rank ranges and clusters of a board's systems by one metric, from all its pairs; in the rows' order.

    A system is better than another where the corrected p-value of their difference is below `alpha`.
    """
    return rank_by_tests(board.scores(metric), pairs, alpha, higher_is_better=board.higher_is_better(metric))


def ranked_by_bootstrap(board: Board, *, alpha: float = ALPHA, correction: str = CORRECTION) -> Board:
    """The board with ranks of its ranked systems by every metric, from its replicates.

    Without correction this is WMT's rule.
    """
    ranking = Ranking("bootstrap", alpha, correction, board.draws)
    if not board.listed.replicates:
        fault = "No replicates were stored (--confidence 0), so there are no rank ranges and clusters."
        return replace(board, ranking=replace(ranking, fault=fault))
    ranked = board.only(board.ranked_rows)
    pairs = [
        bootstrap_pairs(ranked, n, correction=correction, intervals=False) for n in range(len(board.listed.metrics))
    ]
    return replace(board, ranking=ranking_of(board, pairs, ranking))


def ranking_of(board: Board, pairs: Sequence[Sequence[PairedResult]], ranking: Ranking) -> Ranking:
    """The ranking with ranks from the pairs of every metric, which are those of the board's ranked rows alone."""
    ranked, resamples = board.only(board.ranked_rows), ranking.draws
    found = []
    for metric, of_metric in enumerate(pairs):
        ranks_of: list[SystemRank | None] = [None] * len(board.rows)
        for row, rank in zip(board.ranked_rows, board_ranks(ranked, metric, of_metric, ranking.alpha), strict=True):
            ranks_of[row] = rank
        found.append(ranks_of)
    tests = max((sum(not math.isnan(pair.p) for pair in of_metric) for of_metric in pairs), default=0)
    least = smallest_p(resamples, tests, ranking.correction)
    unknown = [pair for of_metric in pairs for pair in of_metric if math.isnan(pair.p)]
    faults = []
    if tests and least >= ranking.alpha:
        what = "replicates" if ranking.test == "bootstrap" else "trials"
        faults.append(
            f"{resamples:,} {what} are too few: no p-value can be below {least:.3g}, so no systems are separated."
        )
    if unknown:
        titles = ", ".join(dict.fromkeys(board.titles[pair.metric] for pair in unknown))
        faults.append(
            f"Pairs that could not be tested by {titles}, because resamples have no score or are all alike: "
            f"{len(unknown)}."
        )
    if tests and ranking.test == "bootstrap" and board.listed.segments < FEW_SEGMENTS:
        faults.append(f"{few_segments(board.listed.segments)}.")
    return replace(ranking, ranks=found, fault=" ".join(faults))
