"""Scores by part of a test set: segments of some length, documents, domains. From stored statistics."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from models.results.statistics import statistics_by_shard
from steelyard.errors import MetricsError
from steelyard.inspection.lengths import CHARACTERS, WORDS, counts_characters, length_buckets
from worker.computing.scoring import cached_metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from analysis.breakdown.texts import BoardTexts
    from analysis.leaderboard.board import Board
    from steelyard.metrics.metric import Metric


ROWS_AT_ONCE = 32
"""Rows of a board that are summed at a time: sums by document of all rows would take much memory."""


@dataclass(frozen=True, eq=False)
class Partition:
    """Groups of segments."""

    what: str
    """The property that defines the groups, such as "words in the reference"."""
    groups: Sequence[str]
    group_of: NDArray[np.int64]
    """(segments,): the group of each segment; -1 for none."""

    @property
    def sizes(self) -> list[int]:
        """The number of segments in each group."""
        counts = np.bincount(self.group_of[self.group_of >= 0], minlength=len(self.groups))
        return [int(count) for count in counts]


@dataclass(frozen=True, eq=False)
class Breakdown:
    """The scores of every system on each group of segments alone."""

    partition: Partition
    scores: NDArray[np.float64]
    """(systems, metrics, groups), systems as in the rows of the board. NaN where undefined, where the group has no
    segment, where the system has no score, and where the metric is not installed."""


def by_length(texts: BoardTexts) -> Partition:
    """Groups by the mean length of a segment's references."""
    characters = counts_characters(texts.target_language)
    ends = CHARACTERS if characters else WORDS
    names, group_of = length_buckets(texts.lengths, ends)
    what = f"{'characters' if characters else 'words'} in the reference"
    return _trimmed(Partition(what, names, group_of))


def by_document(texts: BoardTexts) -> Partition | None:
    """One group for each document; None where none are known."""
    if not texts.documents:
        return None
    group_of = np.full(texts.segments, -1, np.int64)
    for number, document in enumerate(texts.documents):
        group_of[document.first : document.first + document.segments] = number
    return Partition("document", [document.name for document in texts.documents], group_of)


def by_domain(texts: BoardTexts) -> Partition | None:
    """Groups by the domain of the document; None with fewer than two domains."""
    domains = sorted({document.domain for document in texts.documents} - {""})
    if len(domains) < 2:
        return None
    group_of = np.full(texts.segments, -1, np.int64)
    for document in texts.documents:
        if document.domain:
            group_of[document.first : document.first + document.segments] = domains.index(document.domain)
    return Partition("domain", domains, group_of)


def break_down(connection: Connection, board: Board, partitions: Sequence[Partition]) -> list[Breakdown]:
    """The scores of a board's systems on the groups of each partition.

    A score is what the metric's formula gives for the sum of the group's statistics; of a system of several runs the
    mean of theirs. Nothing is scored again.
    """
    metrics = len(board.listed.metrics)
    scores = [np.full((len(board.rows), metrics, len(each.groups)), np.nan) for each in partitions]
    for position, specification in enumerate(board.listed.metrics):
        try:
            metric = cached_metric(specification)
        except MetricsError:
            continue  # the metric's distribution is no longer installed
        scored = [number for number, row in enumerate(board.rows) if row.scores]
        for begin in range(0, len(scored), ROWS_AT_ONCE):
            some = scored[begin : begin + ROWS_AT_ONCE]
            sums = _sums(connection, [board.rows[number].evaluations for number in some], position, metric, partitions)
            for number, of_row in zip(some, sums, strict=True):
                for partition, found, of_runs in zip(partitions, scores, of_row, strict=True):
                    found[number, position] = mean_of_runs([metric.score(each) for each in of_runs])
                    found[number, position, np.array(partition.sizes) == 0] = np.nan
    return [Breakdown(partition, found) for partition, found in zip(partitions, scores, strict=True)]


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
            _add(of_runs[run], statistics, partition.group_of[first : first + len(statistics)])
    return sums


def mean_of_runs(scores: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The mean of several runs' scores, element by element: the same sum as that of a leaderboard.

    Parameters
    ----------
    scores : sequence of ndarray of float64
        The scores of each run, all of one shape.

    Returns
    -------
    ndarray of float64, of the same shape
    """
    if len(scores) == 1:
        return scores[0]
    return np.array([math.fsum(column) / len(scores) for column in zip(*scores, strict=True)])


def _add(sums: NDArray[np.float64], statistics: NDArray[np.float64], group_of: NDArray[np.int64]) -> None:
    """Add (segments, k) to the (groups, k) they belong to, exactly."""
    inside = group_of >= 0
    np.add.at(sums, group_of[inside], statistics[inside])


def _trimmed(partition: Partition) -> Partition:
    """The partition without empty groups at its beginning and end."""
    filled = [number for number, size in enumerate(partition.sizes) if size]
    first, last = min(filled, default=0), max(filled, default=0)
    return Partition(partition.what, partition.groups[first : last + 1], partition.group_of - first)
