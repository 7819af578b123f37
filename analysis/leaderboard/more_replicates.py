"""More bootstrap replicates than are stored, for tests whose correction needs smaller p-values than these can give.

Nothing is scored again: replicates come from the stored statistics of the segments. More replicates keep the first
ones, so the stored ones come first, to the bit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from analysis.leaderboard.significance import ALPHA, scored_pairs
from models.errors import NotFound
from models.results.autoranks import autorank_columns
from models.results.boards import documents_of_board
from models.results.statistics import read_statistics
from steelyard.errors import MetricsError
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import resampled_run
from steelyard.resampling.draws_needed import enough_draws
from steelyard.resampling.runs import mean_over_runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from analysis.leaderboard.board import Board
    from models.results.leaderboard import LeaderboardRow, LeaderboardScore

SUMS_BYTES = 1 << 26
"""Memory in bytes for the sums of replicates."""


def draws_of_tests(
    board: Board, correction: str, *, alpha: float = ALPHA, baseline: int | None = None, draws: int | None = None
) -> int:
    """The number of draws that the tests of a board's systems need, for the metric with the most scores.

    `draws` is the default number, by default the board's replicates; the result is not smaller.
    """
    pairs = max(len(scored_pairs(board, metric, baseline)) for metric in range(len(board.listed.metrics)))
    return enough_draws(board.listed.replicates if draws is None else draws, pairs, correction, alpha)


def with_enough_draws(
    connection: Connection,
    board: Board,
    metrics: Iterable[int],
    correction: str,
    *,
    alpha: float = ALPHA,
    baseline: int | None = None,
) -> Board:
    """The board with as many replicates as bootstrap tests by these metrics need.

    The board is unchanged where the statistics are deleted or the metric is not installed any more.
    """
    draws = draws_of_tests(board, correction, alpha=alpha, baseline=baseline)
    if draws <= board.listed.replicates:
        return board
    rows = [row for row in board.rows if row.scores]
    found: dict[LeaderboardScore, NDArray[np.float64]] = {}
    try:
        # An AutoRank keeps its replicates: it has no statistics, and needs all systems.
        for metric in set(metrics) - autorank_columns(board.listed.metrics).keys():
            scores = [row.scores[metric] for row in rows]
            found |= dict(zip(scores, _replicates(connection, board, rows, metric, draws), strict=True))
    except (MetricsError, NotFound):
        return board
    return replace(board, more_replicates=found)


def _replicates(
    connection: Connection, board: Board, rows: Sequence[LeaderboardRow], metric: int, draws: int
) -> list[NDArray[np.float64]]:
    """The replicate scores of each system, the means of its runs: (draws,) each."""
    parsed = parse_metric(rows[0].scores[metric].specification)
    evaluations = [evaluation for row in rows for evaluation in row.evaluations]
    at_once = max(1, SUMS_BYTES // (8 * draws * len(parsed.columns)))
    documents = documents_of_board(connection, board.listed)
    of_runs = []
    for begin in range(0, len(evaluations), at_once):
        statistics = read_statistics(connection, evaluations[begin : begin + at_once], metric)
        (sums,) = resampled_run([statistics], statistics.shape[1], board.listed.seed, draws, 0, documents)
        of_runs.append(parsed.score(sums))
    return list(mean_over_runs(np.concatenate(of_runs), [len(row.evaluations) for row in rows]))
