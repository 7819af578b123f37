"""The segments that drive a difference between two systems of a leaderboard, from stored statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from models.results.statistics import read_statistics
from steelyard.errors import MetricsError
from steelyard.inspection.influential_segments import influential_segments
from worker.computing.scoring import cached_metric

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from analysis.leaderboard.board import Board
    from steelyard.inspection.influential_segments import InfluentialSegments


def read_influential_segments(
    connection: Connection, board: Board, metric: int, first: int, second: int, most: int
) -> InfluentialSegments | None:
    """As `influential_segments`, of two systems that are positions in the board's rows.

    None where a score is undefined, and where the metric is not installed any more.
    """
    rows = board.rows[first], board.rows[second]
    if not (rows[0].scores and rows[1].scores):
        return None
    try:
        formula = cached_metric(board.listed.metrics[metric])
    except MetricsError:
        return None
    statistics = [read_statistics(connection, row.evaluations, metric) for row in rows]
    return influential_segments(formula, statistics[0], statistics[1], most)
