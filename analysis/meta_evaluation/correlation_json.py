"""Correlation of metrics with human judgments as JSON objects: full precision, null where undefined."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.meta_evaluation.metrics_and_human import BoardCorrelation
    from steelyard.meta_evaluation.correlation import MetricRow, MetricTest


def correlation_object(table: BoardCorrelation) -> dict[str, Any]:
    """The JSON object of a table."""
    judged, listed = table.judged, table.judged.board.listed
    return {
        "campaign": listed.campaign,
        "test_set": listed.test_set,
        "version": listed.version,
        "references": list(listed.references),
        "human": {
            "name": judged.human.name,
            "version": judged.human.version,
            "kind": judged.human.kind.value,
            "method": dict(judged.human.method),
        },
        "level": table.level,
        "seed": listed.seed,
        "systems": list(judged.systems),
        "left_out": {
            "human_translations": list(judged.matched.references),
            "unknown": list(judged.matched.unknown),
            "not_judged": list(judged.matched.not_judged),
            "as_asked": list(judged.board.without),
            "not_scored": list(judged.unscored),
        },
        "undefined": [statistic.name for statistic in table.undefined],
        "baseline": table.baseline.specification if table.baseline else None,
        "metrics": [_metric_object(table, row) for row in table.rows],
    }


def _metric_object(table: BoardCorrelation, row: MetricRow) -> dict[str, Any]:
    statistics = []
    for statistic, agreement in zip(table.statistics, row.agreements, strict=True):
        interval = None
        if agreement.interval:
            low, high = agreement.interval
            n = len(agreement.replicates)
            interval = {
                "level": table.asked.level, "low": low, "high": high, "n": n, "resampled": agreement.resampled,
            }  # fmt: skip
        statistics.append(
            {
                "statistic": statistic.name,
                "value": _or_null(agreement.value),
                "n": agreement.counted,
                "unit": agreement.unit,
                "interval": interval,
            }
        )
    return {
        "metric": row.metric.specification,
        "title": row.metric.title,
        "higher_is_better": row.metric.higher_is_better,
        "rank": row.rank,
        "statistics": statistics,
        "test": _test_object(table, row.test) if row.test else None,
    }


def _test_object(table: BoardCorrelation, test: MetricTest) -> dict[str, Any]:
    """The metric against the baseline; `difference` is the metric's value minus the baseline's."""
    assert table.baseline is not None
    interval = None
    if test.interval:
        interval = {"level": table.asked.level, "low": -test.interval[1], "high": -test.interval[0]}
    return {
        "against": table.baseline.specification,
        "statistic": table.statistics[0].name,
        "difference": _or_null(-test.difference),
        "interval": interval,
        "trials": table.trials,
        "p": _or_null(test.p),
        "p_corrected": _or_null(test.p_corrected),
        "correction": table.asked.correction,
        "williams_p": _or_null(test.williams),
        "williams_p_corrected": _or_null(test.williams_corrected),
    }


def _or_null(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
