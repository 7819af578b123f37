"""A test set scored by every metric of a sweep, joined with human scores of the same systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import select

from analysis.leaderboard.board import read_board
from analysis.meta_evaluation.metrics_and_human import read_judged
from models.schema.corpus import Document, Protocol
from steelyard.kernels.resampling.resampling import resampling_counts
from steelyard.meta_evaluation.correlation import (
    SYSTEM,
    CorrelationOptions,
    correlate_segments,
    correlate_systems,
)
from steelyard.meta_evaluation.statistics import segment_statistic
from steelyard.resampling.interval import percentile_interval

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from analysis.meta_evaluation.metrics_and_human import JudgedBoard
    from models.results.boards import BoardSummary

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SweepOptions:
    """The level and statistic of a correlation with human judgments."""

    level: str
    """One of LEVELS."""
    statistic: str
    """A name of `steelyard.meta_evaluation.statistics`."""


@dataclass(frozen=True, eq=False)
class SweepCorrelation:
    """The correlation of each metric of a sweep with human judgments on one test set, by one statistic."""

    listed: BoardSummary
    systems: tuple[str, ...]
    question: SweepOptions
    items: int
    """The number of systems, pairs, cells or segments behind it; the largest of all metrics."""
    unit: str
    observed: Floats
    """(metrics,); NaN where undefined."""
    replicates: Floats
    """(metrics, replicates), all resampled by the same draws."""
    resampled: str = ""
    """The unit that replicates resample: "segments", "documents" or "systems"; "" without replicates."""

    @property
    def defined(self) -> bool:
        """Whether at least one metric has the statistic."""
        return not np.isnan(self.observed).all()

    def interval(self, metric: int, level: float) -> tuple[float, float] | None:
        """The interval of the statistic of one metric; None without replicates or where one is undefined."""
        return percentile_interval(self.replicates[metric], level)


@dataclass(frozen=True, eq=False)
class SweepResult:
    """One test set with one choice of references."""

    judged: JudgedBoard
    """The metrics of the sweep beside human scores; error rates are negated."""
    documents: tuple[tuple[int, int], ...]
    """(first segment, segments) of each."""

    @property
    def listed(self) -> BoardSummary:
        """The leaderboard."""
        return self.judged.board.listed

    def agreement(self, question: SweepOptions) -> SweepCorrelation:
        """The correlation of each metric with human judgments, as `correlate` computes it.

        Raises
        ------
        BadParameter
            If a parameter is invalid.
        """
        of_systems = question.level == SYSTEM
        agreement_of = correlate_systems if of_systems else correlate_segments
        position = {metric.specification: number for number, metric in enumerate(self.judged.metrics)}
        undefined = SweepCorrelation(
            self.listed, self.judged.systems, question, 0, "", np.full(len(position), np.nan),
            np.zeros((len(position), 0)),
        )  # fmt: skip
        if not (self.judged.has_systems if of_systems else self.judged.has_segments):
            return undefined
        table = agreement_of(self.judged, [question.statistic], CorrelationOptions(self.listed.replicates, trials=0))
        if not table.statistics:
            return undefined
        found = {position[row.metric.specification]: row.agreements[0] for row in table.rows}
        in_order = [found[number] for number in sorted(found)]
        return SweepCorrelation(
            self.listed,
            self.judged.systems,
            question,
            max(each.counted for each in in_order),
            in_order[0].unit,
            np.array([each.value for each in in_order]),
            np.stack([each.replicates for each in in_order]),
            in_order[0].resampled,
        )

    def segment_measure(self, question: SweepOptions) -> tuple[Callable[[Floats], float], Callable[[Floats], Floats]]:
        """The statistic of segment scores, as two functions of an array of shape (systems, segments).

        Returns
        -------
        function to float
            The statistic.
        function to ndarray of float64, shape (replicates,)
            That of every replicate, by the board's draws.
        """
        statistic = segment_statistic(question.statistic)
        human = self.judged.human_raw if statistic.on_raw else self.judged.human_segments
        segments = human.shape[1]
        counts = resampling_counts(segments, self.listed.seed, self.listed.replicates, 0, segments)
        return (
            lambda scores: statistic.value(human, scores),
            lambda scores: statistic.values(human, scores, counts) if len(counts) else np.zeros(0),
        )


def read_sweep(connection: Connection, listed: BoardSummary, human: str | None = None) -> SweepResult | None:
    """A finished sweep with the human judgments `NAME` or `NAME@VERSION`, without a name the only ones.

    None where no system was judged.

    Raises
    ------
    NotFound
        If it does not exist.
    """
    board = read_board(connection, listed, 0.95)
    assert board is not None, "without a metric to sort by there is always a board"
    judged = read_judged(connection, board, human)
    documents = connection.execute(
        select(Document.first_segment, Document.segments)
        .join(Protocol, Protocol.test_set_id == Document.test_set_id)
        .where(Protocol.id == listed.protocol_id)
        .order_by(Document.first_segment)
    )
    return (
        SweepResult(judged, tuple((row.first_segment, row.segments) for row in documents)) if judged.systems else None
    )
