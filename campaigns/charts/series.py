"""Scores of scheduled runs, with their intervals and lasting levels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from campaigns.charts.drawing import Drawing
from campaigns.charts.lettering import SIZE, text_width, writable
from campaigns.charts.markers import CIRCLE
from campaigns.charts.palette import SERIES, SOFT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.nightly.series import ScoreSeries

WIDTH, HEIGHT = 720, 260
SMALL = SIZE - 1


def chart_of_runs(series: ScoreSeries, *, title: str = "", width: int = WIDTH, height: int = HEIGHT) -> str:
    """Return an SVG of one series: scores as a line with a band of 95 % intervals, levels as dashed lines.

    The first run of a new level has a vertical line with its date and "worse" or "better".
    """
    points = series.points
    drawing = Drawing(width, height, (52, 44, 20, 44))
    positions = list(range(len(points)))
    scores = [math.nan if point.score is None else point.score for point in points]
    low = [math.nan if point.interval is None else point.interval[0] for point in points]
    high = [math.nan if point.interval is None else point.interval[1] for point in points]
    finite = [value for value in (*scores, *low, *high) if math.isfinite(value)]
    subject = series.subject
    named = f"{subject.system}, {subject.where}"
    if finite:
        drawing.span(positions, finite)
        drawing.band(list(zip(positions, low, high, strict=True)), SERIES[0])
        drawing.line(list(zip(positions, scores, strict=True)), SERIES[0], 1.4)
        for position, score in zip(positions, scores, strict=True):
            if math.isfinite(score):
                drawing.mark(*drawing.pixels(position, score), CIRCLE, 4, SERIES[0])
        _levels(drawing, series)
        _dates(drawing, series)
    else:
        drawing.leave_bare()
    where = series.title + ("" if series.higher_is_better else " (lower is better)")
    drawing.name_axes("Run", f"{where}: {named}")
    marked = "; ".join(f"{'worse' if change.worse else 'better'} since {change.since}" for change in series.changes)
    return drawing.svg(
        title or f"{where} of {named}, by run",
        f"{sum(math.isfinite(score) for score in scores)} runs with a score. {marked or 'No lasting change'}.",
    )


def charts_of_runs(series: Sequence[ScoreSeries], *, title: str = "") -> str:
    """Return one SVG with a chart for every series, one below the other."""
    from html import escape

    charts = [chart_of_runs(each) for each in series]
    height = max(HEIGHT * len(charts), 1)
    placed = [chart.replace("<svg ", f'<svg y="{HEIGHT * row}" ', 1) for row, chart in enumerate(charts)]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">'
    return f"{head}<title>{escape(writable(title))}</title>{''.join(placed)}</svg>"


def _levels(drawing: Drawing, series: ScoreSeries) -> None:
    """Draw the mean of every lasting level, and where one begins."""
    dates = [point.date for point in series.points]
    taken, begin = -math.inf, 0
    for change in series.changes:
        at, last = dates.index(change.since), len(dates) - 1 - dates[::-1].index(change.until)
        colour, dashes = SERIES[1] if change.worse else SERIES[2], (6, 2)
        drawing.upright(at - 0.5, colour, 1.2, (2, 2))
        if not begin:
            drawing.level(change.before, (-0.5, at - 0.5), SOFT, 1.6, dashes)
        drawing.level(change.after, (at - 0.5, last + 0.5), colour, 1.6, dashes)
        begin = at
        text = f"{'▼ worse' if change.worse else '▲ better'} {change.difference:+.3g}"
        text += "" if change.counts else " (not significant)"
        across = drawing.pixels(at - 0.5, 0)[0]
        across = min(across + 3, drawing.width - text_width(text, SMALL) - 4)
        if across > taken:
            drawing.write(across, 40, text, height="above", size=SMALL)
            taken = across + text_width(text, SMALL)


def _dates(drawing: Drawing, series: ScoreSeries) -> None:
    """Write dates below the axis: those of changes, the first and the last, and others where there is room."""
    dates = [point.date for point in series.points]
    wanted = [0, len(dates) - 1, *(dates.index(change.since) for change in series.changes)]
    wanted += range(0, len(dates), max(1, len(dates) // 6))
    shown: dict[int, float] = {}
    room = text_width("2027-03-01", SMALL) + 10
    for position in dict.fromkeys(wanted):
        across = drawing.pixels(position, 0)[0]
        if all(abs(across - other) >= room for other in shown.values()):
            shown[position] = across
    drawing.mark_places(sorted(shown))
    for position, across in shown.items():
        half = room / 2
        inside = min(max(across, half), drawing.width - half)
        drawing.write(inside, drawing.height - 36, dates[position], "middle", "below", size=SMALL)
