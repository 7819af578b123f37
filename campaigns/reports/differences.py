"""A matrix of the differences between all systems by a metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from campaigns.reports.limits import MATRIX_METRICS, MATRIX_SYSTEMS
from campaigns.reports.template import rendered
from steelyard.tables.formatting import TYPESET, digits, p_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markupsafe import Markup

    from steelyard.resampling.paired import PairedResult


@dataclass(frozen=True)
class MetricPairs:
    """All pairs of systems by one metric; the p-values shown are the corrected ones."""

    metric: str
    higher_is_better: bool
    scale: float
    pairs: Sequence[PairedResult]
    """Systems are positions among the names of the matrix."""


def differences_body(
    names: Sequence[str],
    metrics: Sequence[MetricPairs],
    *,
    alpha: float,
    what: str,
    least: float = 0.0,
    rule: str = "",
    links: Mapping[tuple[int, int], str] | None = None,
    why: str = "",
    most: int | None = None,
) -> Markup:
    """Render one matrix open and the others collapsed; with one row if all pairs share a system.

    `what` says which test and correction the p-values come from; `least` is the smallest p-value that it can show:
    unless that is below `alpha`, the page warns. `rule` is a sentence on how these tests relate to those of the
    leaderboard. `links` are URLs that explain a pair of systems, `#place` on the same page; `most` systems are shown,
    by default `MATRIX_SYSTEMS`; `why` is shown if there are no pairs.
    """
    shown = [each for each in metrics if each.pairs]
    shown_systems = MATRIX_SYSTEMS if most is None else most
    matrices = [_matrix(names, each, alpha, links or {}, shown_systems) for each in shown[:MATRIX_METRICS]]
    left_out = max(len(shown) - MATRIX_METRICS, 0)
    return rendered(
        "differences", matrices=matrices, what=what, least=least, alpha=alpha, rule=rule, why=why, left_out=left_out
    )


def _matrix(
    names: Sequence[str], each: MetricPairs, alpha: float, links: Mapping[tuple[int, int], str], most: int
) -> dict[str, Any]:
    systems = range(min(len(names), most))
    found = {(pair.a, pair.b): pair for pair in each.pairs}
    # If all were tested against one system, the other rows would have one cell each.
    baseline = set.intersection(*({pair.a, pair.b} for pair in each.pairs))
    rows = []
    for row in baseline if len(baseline) == 1 else systems:
        cells: list[dict[str, Any] | None] = []
        for column in systems:
            pair = found.get((row, column)) or found.get((column, row))
            if row == column:
                cells.append(None)
            elif pair is None:
                cells.append({})
            else:
                cells.append(_cell(each, pair, row, alpha, links))
        rows.append({"name": names[row], "cells": cells})
    return {
        "metric": each.metric,
        "descending": not each.higher_is_better,
        "alpha": alpha,
        "names": [names[system] for system in systems],
        "rows": rows,
        "left_out": len(names) - len(systems),
    }


def _cell(
    each: MetricPairs, pair: PairedResult, row: int, alpha: float, links: Mapping[tuple[int, int], str]
) -> dict[str, Any]:
    # A pair holds b minus a; a cell row minus column.
    difference = pair.difference if pair.b == row else -pair.difference
    better = (difference > 0) == each.higher_is_better
    kind = "" if not pair.p_corrected < alpha or difference == 0 else "up" if better else "down"
    return {
        "kind": kind,
        "difference": TYPESET.number(difference, digits(each.scale), sign=True),
        "p": p_value(pair.p_corrected),
        "link": links.get((pair.a, pair.b)) or links.get((pair.b, pair.a)) or "",
    }
