"""Scatter plots of metrics against each other and against human scores."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from campaigns.charts import scatter
from campaigns.charts.numbers import csv_address
from campaigns.reports.limits import SCATTER_METRICS, SCATTER_SYSTEMS
from campaigns.reports.template import drawing, rendered
from steelyard.meta_evaluation.system import pearson
from steelyard.tables.formatting import TYPESET

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markupsafe import Markup

DESCENDING = "↓"
"""Ends the title of a metric where lower is better."""
PLACES = 6
"""Of the numbers of a chart as a file: further ones would make up a third of it."""
ENOUGH = 3
"""Minimum number of systems for a correlation: two points always lie on a line."""


def scatters_body(
    names: Sequence[str],
    metrics: Mapping[str, Sequence[float]],
    human: Mapping[str, Sequence[float]] | None = None,
    introduction: Sequence[str] = (),
) -> Markup:
    """Render a chart for each pair of metrics, and for each metric with each kind of human scores.

    The values are in the order of `names`, NaN if missing.
    """
    human_scores = human or {}
    against = [(one, other) for other in human_scores for one in metrics]
    between = list(combinations(list(metrics)[:SCATTER_METRICS], 2))
    values = {**metrics, **human_scores}
    shown = _shown(values)
    figures = []
    for one, other in (*against, *between):
        points = list(zip(names, values[one], values[other], strict=True))
        drawn = [points[place] for place in shown]
        turned = one.endswith(DESCENDING), other.endswith(DESCENDING)
        signs = [-1.0 if each else 1.0 for each in turned]
        known = [(signs[0] * x, signs[1] * y) for _, x, y in points if math.isfinite(x) and math.isfinite(y)]
        title = f"{other} against {one}"
        told = "The values are in the table below the charts."
        chart = scatter(drawn, one, other, title=title, description=told, turned=turned)
        caption = f"{title}: {len(known)} systems{_correlation(known)}."
        numbers = csv_address(
            ["system", one, other], [(name, round(x, PLACES), round(y, PLACES)) for name, x, y in drawn]
        )
        figures.append({"chart": drawing(chart), "caption": caption, "title": title, "csv": numbers})
    left_out = len(metrics) - SCATTER_METRICS
    notes = []
    if any(each.endswith(DESCENDING) for each in metrics):
        notes.append("Axes of metrics where lower is better (↓) are turned, so that better is up and to the right.")
    notes += [f"{left_out} more metrics are not shown against each other."] if left_out > 0 else []
    if values and len(shown) < len(names):
        notes.append(f"Of {len(names):,} systems, charts and table show the best {len(shown)} by {next(iter(values))}.")
    rows = [(names[row], [TYPESET.number(values[column][row], 3) for column in values]) for row in shown]
    return rendered("scatters", figures=figures, introduction=[*introduction, *notes], columns=list(values), rows=rows)


def _shown(values: Mapping[str, Sequence[float]]) -> list[int]:
    """Return the places of the systems that are drawn: all, or the best by the first column, in their order."""
    title, scores = next(iter(values.items()), ("", ()))
    sign = 1.0 if title.endswith(DESCENDING) else -1.0
    best = sorted(range(len(scores)), key=lambda place: (math.isnan(scores[place]), sign * scores[place]))
    return sorted(best[:SCATTER_SYSTEMS])


def _correlation(points: Sequence[tuple[float, float]]) -> str:
    if len(points) < ENOUGH:
        return ", too few for a correlation"
    x, y = np.array(points).T
    return f", Pearson's r = {TYPESET.number(float(pearson(y, x)), 2)}"
