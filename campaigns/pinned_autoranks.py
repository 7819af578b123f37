"""AutoRanks as organisers name them, with their metrics pinned to columns of a leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.leaderboard.board import position_of_metric
from steelyard.errors import BadParameter
from steelyard.metrics.registry import installed_metrics
from steelyard.metrics.without_texts.imported import plain_name
from steelyard.ranking.autorank import AUTORANK
from steelyard.ranking.autorank_column import AutoRank

if TYPE_CHECKING:
    from steelyard.metrics.metric import Metric


def pinned_autoranks(metrics: Sequence[Metric]) -> list[Metric]:
    """The metrics of a leaderboard, with each AutoRank's metrics as positions in this list, each once.

    An AutoRank that names no metrics is made of all others.

    Raises
    ------
    BadParameter
        For a metric that is not there.
    """
    texts = [metric.specification for metric in metrics]
    found: list[Metric] = []
    for metric in metrics:
        if isinstance(metric, AutoRank):
            positions = [n for n, each in enumerate(metrics) if not isinstance(each, AutoRank)]
            if metric.of:
                positions = [_position(texts, each) for each in metric.of.split(",")]
            if any(isinstance(metrics[each], AutoRank) for each in positions):
                raise BadParameter("AutoRank is not made of AutoRanks. Name other metrics.")
            metric = metric.on_board(positions)
        if metric not in found:
            found.append(metric)
    return found


def _position(metrics: Sequence[str], wanted: str) -> int:
    if wanted.isascii() and wanted.isdigit() and 1 <= int(wanted) <= len(metrics):
        return int(wanted) - 1
    position = position_of_metric(metrics, plain_name(wanted))
    if position is None:
        titles = [metric.title for metric in installed_metrics(metrics) if metric.name != AUTORANK]
        raise BadParameter(f'autorank: the leaderboard has no metric "{wanted}". Metrics: {", ".join(titles)}.')
    return position
