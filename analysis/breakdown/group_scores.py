"""Scores by part of a test set: segments of some length, documents, domains. From stored statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from models.results.statistics import statistics_by_shard
from steelyard.errors import MetricsError
from steelyard.inspection.partitions import add_group_sums
from steelyard.resampling.runs import mean_over_runs
from worker.computing.scoring import cached_metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from analysis.leaderboard.board import Board
    from steelyard.inspection.partitions import Partition
    from steelyard.metrics.metric import Metric


ROWS_AT_ONCE = 32
"""Rows of a board that are summed at a time: sums by document of all rows would take much memory."""


@dataclass(frozen=True, eq=False)
class Breakdown:
    """The scores of every system on each group of segments alone."""

    partition: Partition
    scores: NDArray[np.float64]
    """(systems, metrics, groups), systems as in the rows of the board. NaN where undefined, where the group has no
    segment, where the system has no score, and where the metric is not installed."""


def break_down(connection: Connection, board: Board, partitions: Sequence[Partition]) -> list[Breakdown]:
    """The scores of a board's systems on the groups of each partition.

    A score is what the metric's formula gives for the sum of the group's statistics; of a system of several runs the
    mean of theirs. Nothing is scored again.
    """
    metrics = len(board.listed.metrics)
    scores = [np.full((len(board.rows), metrics, len(each.groups)), np.nan) for each in partitions]
    scored = [number for number, row in enumerate(board.rows) if row.scores]
    for position, specification in enumerate(board.listed.metrics):
        try:
            metric = cached_metric(specification)
        except MetricsError:
            continue  # the metric's distribution is no longer installed
        runs = [board.rows[number].evaluations for number in scored]
        for found, of_systems in zip(
            scores, scores_of_groups(connection, runs, position, metric, partitions), strict=True
        ):
            found[scored, position] = of_systems
    return [Breakdown(partition, found) for partition, found in zip(partitions, scores, strict=True)]


def scores_of_groups(
    connection: Connection,
    systems: Sequence[Sequence[int]],
    position: int,
    metric: Metric,
    partitions: Sequence[Partition],
) -> list[NDArray[np.float64]]:
    """For each partition (systems, groups): the scores of systems, given by the evaluations of their runs.

    NaN where undefined, and where the group has no segment.
    """
    scores = [np.full((len(systems), len(each.groups)), np.nan) for each in partitions]
    for begin in range(0, len(systems), ROWS_AT_ONCE):
        some = systems[begin : begin + ROWS_AT_ONCE]
        for number, of_row in enumerate(_sums(connection, some, position, metric, partitions), begin):
            for partition, found, of_runs in zip(partitions, scores, of_row, strict=True):
                run_scores = np.stack([metric.score(each) for each in of_runs])
                found[number] = mean_over_runs(run_scores, [len(of_runs)])[0]
                found[number, np.array(partition.sizes) == 0] = np.nan
    return scores


def _sums(
    connection: Connection,
    rows: Sequence[Sequence[int]],
    position: int,
    metric: Metric,
    partitions: Sequence[Partition],
) -> list[list[list[NDArray[np.float64]]]]:
    """By row, partition and run of the row, (groups, k): the summed statistics of each group."""
    sums = [[[np.zeros((len(each.groups), len(metric.columns))) for _ in runs] for each in partitions] for runs in rows]
    places = {evaluation: (row, run) for row, runs in enumerate(rows) for run, evaluation in enumerate(runs)}
    # One shard at a time: the statistics of a large campaign are too large together.
    for evaluation, first, statistics in statistics_by_shard(connection, list(places), position):
        row, run = places[evaluation]
        for partition, of_runs in zip(partitions, sums[row], strict=True):
            add_group_sums(of_runs[run], statistics, partition.group_of[first : first + len(statistics)])
    return sums
