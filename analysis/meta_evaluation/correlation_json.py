"""Correlation of metrics with human judgments as JSON objects: full precision, null where undefined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.tables.correlation import metric_objects

if TYPE_CHECKING:
    from analysis.meta_evaluation.metrics_and_human import BoardCorrelation


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
        "metrics": metric_objects(table),
    }
