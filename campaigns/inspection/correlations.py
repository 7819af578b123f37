"""Correlations of metrics with human judgments: how they are computed, and their documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.meta_evaluation.correlation_json import correlation_object
from analysis.meta_evaluation.correlation_text import explanations
from campaigns.errors import NotFound
from steelyard.meta_evaluation.correlation import (
    LEVELS,
    SEGMENT,
    SYSTEM,
    CorrelationOptions,
    correlate_segments,
    correlate_systems,
)
from steelyard.meta_evaluation.statistics import chosen_statistics
from steelyard_client.documents.leaderboards.correlations import CorrelationResponse, ReferenceOutput
from steelyard_client.vocabulary import Granularity, PValueCorrection

if TYPE_CHECKING:
    from analysis.meta_evaluation.metrics_and_human import BoardCorrelation, JudgedBoard
    from campaigns.permissions import CampaignAccess

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class CorrelationQuery:
    """How metrics are compared with human judgments."""

    granularity: Granularity = Granularity.BOTH
    statistics: tuple[str, ...] = ()
    """Names; the first one ranks and is tested. The default ones where none are given."""
    replicates: int | None = None
    """For the intervals; None for as many as the metrics have, or 1,000."""
    level: float = LEVEL
    """The confidence level of the intervals."""
    trials: int | None = None
    """Of the permutation tests; None for 10,000 with systems and 1,000 with segments."""
    correction: PValueCorrection = PValueCorrection.HOLM
    baseline: str = ""
    """Specification of the metric that the others are tested against; "" for the best one."""

    @property
    def usual(self) -> bool:
        """Whether it is the one that pages show."""
        return self == CorrelationQuery()


def correlate(judged: JudgedBoard, query: CorrelationQuery) -> list[BoardCorrelation]:
    """A table for each requested level that has human scores.

    Raises
    ------
    BadParameter
        For an unknown statistic.
    NotFound
        For an unknown baseline.
    """
    baseline = None
    if query.baseline:
        metrics = [metric.specification for metric in judged.metrics]
        baseline = metric_position(metrics, query.baseline)
    asked = CorrelationOptions(query.replicates, query.level, query.trials, query.correction, baseline)
    levels = LEVELS if query.granularity is Granularity.BOTH else (query.granularity.value,)
    by_level = chosen_statistics(query.statistics, levels)
    found = []
    if SYSTEM in by_level and judged.has_systems:
        found.append(correlate_systems(judged, by_level[SYSTEM], asked))
    if SEGMENT in by_level and judged.has_segments:
        found.append(correlate_segments(judged, by_level[SEGMENT], asked))
    return found


def metric_position(metrics: list[str], name: str) -> int:
    """The position of a metric in a list of specifications. Raises NotFound."""
    from analysis.leaderboard.board import position_of_metric

    position = position_of_metric(metrics, name)
    if position is None:
        raise NotFound(f'There is no metric "{name}" on this leaderboard. There are: {", ".join(metrics)}.')
    return position


def correlation_document(table: BoardCorrelation, access: CampaignAccess) -> CorrelationResponse:
    """The document of a table, without names that would identify anonymous teams."""
    board, known = table.judged.board, correlation_object(table)
    if not access.sees_names:
        known |= {"systems": None, "left_out": None}
    equal = [
        ReferenceOutput(system=board.name(row), reference=reference)
        for row in (board.rows if access.organises else ())
        if (reference := board.same_as_reference.get(row.evaluations))
        and {row.system, board.name(row)} & set(table.judged.systems)
    ]
    notes = explanations(table, name_systems=access.sees_names)
    return CorrelationResponse(**known, notes=notes, reference_outputs=equal)
