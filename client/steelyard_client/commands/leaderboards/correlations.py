"""Correlations with human judgments in every format of tables, from their documents."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.meta_evaluation.correlation import (
    SYSTEM,
    Correlation,
    CorrelationOptions,
    CorrelationTable,
    MetricRow,
    MetricTest,
)
from steelyard.meta_evaluation.judged_scores import JudgedMetric
from steelyard.meta_evaluation.statistics import segment_statistic, system_statistic
from steelyard.tables.correlation import TSV_COLUMNS, tables_of, tsv_rows
from steelyard.tables.rendering import render_document
from steelyard.text.wording import with_references

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.tables.delimited import Cell
    from steelyard_client.documents.leaderboards.correlations import (
        CorrelatedMetric,
        CorrelationResponse,
        CorrelationTest,
    )


NO_SCORES: Any = ()
"""Tables show none."""


def rendered(found: Sequence[CorrelationResponse], form: str, width: int = 3) -> str:
    """All correlations; in JSON, CSV and TSV every statistic in full precision, in the latter two a row for each."""
    return render_document(
        form,
        document=lambda: [each.model_dump(mode="json") for each in found],
        data=lambda: (
            ("campaign", "test_set", "version", "references", "human", *TSV_COLUMNS),
            [row for each in found for row in _data_rows(each)],
        ),
        tables=lambda: [
            table for each in found for table in tables_of(table_of(each), heading(each), width, each.notes)
        ],
        title="Metrics and human judgments",
    )


def heading(found: CorrelationResponse) -> str:
    """The heading of a table."""
    name = found.test_set if found.version == "1" else f"{found.test_set} (version {found.version})"
    name = name if found.campaign == found.test_set else f"{found.campaign}: {name}"
    return f"{with_references(name, found.references)}, human judgments {_title(found)}, by {found.level}"


def _title(found: CorrelationResponse) -> str:
    return f"{found.human.name}@{found.human.version}"


def _data_rows(found: CorrelationResponse) -> list[tuple[Cell, ...]]:
    """A row for each metric and statistic; None where undefined. Tests stand with the first statistic."""
    begin = (found.campaign, found.test_set, found.version, "+".join(found.references), _title(found))
    return [(*begin, *row) for row in tsv_rows(table_of(found))]


class _Statistic(NamedTuple):
    """The names of a statistic."""

    name: str
    title: str


def table_of(found: CorrelationResponse) -> CorrelationTable[Any]:
    """The numbers of a document as the library computes them, without the scores behind them."""
    level = next((each.interval.level for row in found.metrics for each in row.statistics if each.interval), 0.95)
    tests = [each.test for each in found.metrics if each.test]
    named = system_statistic if found.level == SYSTEM else segment_statistic
    names = [each.statistic for each in found.metrics[0].statistics] if found.metrics else []
    metrics = [_metric(each) for each in found.metrics]
    return CorrelationTable(
        judged=None,
        level=found.level,
        statistics=[_Statistic(name, named(name).title) for name in names],  # type: ignore[misc]
        undefined=(),
        rows=[_row(metric, each) for metric, each in zip(metrics, found.metrics, strict=True)],
        asked=CorrelationOptions(level=level, correction=tests[0].correction if tests else "none"),
        trials=tests[0].trials if tests else 0,
        baseline=next((metric for metric in metrics if metric.specification == found.baseline), None),
    )


def _metric(found: CorrelatedMetric) -> JudgedMetric:
    return JudgedMetric(found.metric, found.title, found.higher_is_better, NO_SCORES, NO_SCORES, NO_SCORES)


def _row(metric: JudgedMetric, found: CorrelatedMetric) -> MetricRow:
    agreements = [
        Correlation(
            value=_number(each.value),
            counted=each.n,
            unit=each.unit,
            interval=None if each.interval is None else (each.interval.low, each.interval.high),
            replicates=_replicates(each.interval.n if each.interval else 0),
            resampled=each.interval.resampled if each.interval else "",
        )
        for each in found.statistics
    ]
    return MetricRow(metric, found.rank, agreements, None if found.test is None else _test(found.test))


def _test(found: CorrelationTest) -> MetricTest:
    """The library has the baseline's value minus the metric's."""
    return MetricTest(
        difference=-_number(found.difference),
        interval=None if found.interval is None else (-found.interval.high, -found.interval.low),
        p=_number(found.p),
        p_corrected=_number(found.p_corrected),
        williams=_number(found.williams_p),
        williams_corrected=_number(found.williams_p_corrected),
    )


def _replicates(number: int) -> Any:
    """What is as long as these replicates, of which tables say how many they are."""
    return range(number)


def _number(value: float | None) -> float:
    return math.nan if value is None else value
