"""Significant differences on a leaderboard, and the ranks that follow from them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from models.results.autoranks import autorank_columns
from steelyard.ranking.autorank import with_extremes
from steelyard.ranking.tested_ranking import Ranking, rank_tested
from steelyard.resampling.paired import bootstrap_p_of_pairs, paired_results, pairs_to_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.leaderboard.board import Board
    from steelyard.resampling.paired import PairedResult

ALPHA = 0.05
"""Differences with a smaller p-value are significant."""

CORRECTION = "none"
"""The tests of a leaderboard are not corrected for their number: WMT's rule. Other displays of differences use the same
default, so that they agree with the leaderboard."""


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
    replicates = board.tested_replicates(metric)
    p_values = bootstrap_p_of_pairs(scores, replicates, pairs)
    if metric in autorank_columns(board.listed.metrics):
        known = replicates[~np.isnan(scores)]
        p_values = with_extremes(p_values, not np.isnan(known).any(), replicates.shape[1])
    ends = board.intervals_of_differences(metric, pairs) if intervals else [None] * len(pairs)
    return paired_results(scores, pairs, p_values, ends, correction, metric)


def scored_pairs(board: Board, metric: int, baseline: int | None = None) -> list[tuple[int, int]]:
    """The pairs of rows to test: both have a score by the metric."""
    known = (~np.isnan(board.scores(metric))).tolist()
    return [(a, b) for a, b in pairs_to_test(len(known), baseline) if known[a] and known[b]]


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
    metrics = range(len(board.listed.metrics))
    return rank_tested(
        ranking,
        np.stack([board.scores(metric) for metric in metrics]),
        board.ranked_rows,
        pairs,
        higher_is_better=[board.higher_is_better(metric) for metric in metrics],
        titles=board.titles,
        segments=board.listed.segments,
    )
