"""Pictures of what benchmarks found, in the look of the reports: SVG that stands alone on a white ground."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchmarks.fit import power
from web.charts.drawing import SIZE, Drawing, wide
from web.charts.palette import DASHES, INK, MARKERS, SERIES, SOFT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.section import Chart, Line

WIDTH = 720
BAR = 22
"""Pixels from one bar to the next."""
FOOT, HEAD = 44, 28


def draw(chart: Chart) -> str:
    """The SVG; the same bytes for the same figures."""
    return {"ratios": ratios, "growth": growth, "stacked": stacked, "beside": beside}[chart.kind](chart)


def ratios(chart: Chart) -> str:
    """A bar from 1 for each workload on a log axis, its least and most as a whisker, a colour for each peer."""
    bars = [(line, place) for line in chart.lines for place in range(len(line.x))]
    labels = [f"{line.x[place]} ({line.name})" for line, place in bars]
    drawing = _rows(labels, right=64)
    lowest = min([1.0, *(_ends(line, place)[0] for line, place in bars)])
    highest = max(10.0, *(_ends(line, place)[1] for line, place in bars))
    drawing.axes.set(xscale="log", xlim=(lowest / 1.15, highest * 1.15))
    peers = [line.name for line in chart.lines]
    for row, (line, place) in enumerate(bars):
        value, (low, high) = line.y[place], _ends(line, place)
        colour = SERIES[peers.index(line.name) % len(SERIES)]
        drawing.axes.barh(row, value - 1, left=1, height=0.62, color=colour, alpha=0.85)
        drawing.axes.plot([low, high], [row, row], color=INK, linewidth=1.2)
        across, up = drawing.pixels(max(high, 1), row)
        drawing.write(across + 5, up, f"{value:,.1f}×", verticalalignment="center_baseline")
    drawing.axes.axvline(1, color=SOFT, linewidth=1)
    return _finished(drawing, chart, upright=False)


def growth(chart: Chart) -> str:
    """Points with the fitted power as a line, log-log; the exponent stands beside the name."""
    drawing = Drawing(WIDTH, 360)
    fits = [power(line.x, line.y) for line in chart.lines]  # type: ignore[arg-type]
    names = [f"{line.name}: exponent {fit[0]:.2f}" for line, fit in zip(chart.lines, fits, strict=True)]
    drawing.place(left=60, bottom=FOOT, right=max(map(wide, names)) + 34, top=HEAD)
    across = [float(x) for line in chart.lines for x in line.x]
    up = [y for line in chart.lines for y in line.y]
    drawing.axes.set(xscale="log", yscale="log", xlim=_around(across), ylim=_around(up))
    for number, (line, (exponent, factor)) in enumerate(zip(chart.lines, fits, strict=True)):
        colour = SERIES[number % len(SERIES)]
        ends = [min(map(float, line.x)), max(map(float, line.x))]
        drawing.axes.plot(
            ends, [factor * end**exponent for end in ends], color=colour, linewidth=1.4,
            linestyle=DASHES[number % len(DASHES)],
        )  # fmt: skip
        drawing.axes.plot(
            line.x, line.y, color=colour, linestyle="none", marker=MARKERS[number % len(MARKERS)], markersize=6,
            markeredgewidth=0,
        )  # fmt: skip
    _name_lines(drawing, names)
    _plain_ticks(drawing, sorted({*across}))
    return _finished(drawing, chart, upright=True)


def stacked(chart: Chart) -> str:
    """A bar for each x, made of the lines' values one after the other."""
    labels = [str(x) for x in chart.lines[0].x]
    drawing = _rows(labels, right=max(wide(line.name) for line in chart.lines) + 40)
    ends = [0.0] * len(labels)
    for number, line in enumerate(chart.lines):
        drawing.axes.barh(
            range(len(labels)), line.y, left=ends, height=0.62, color=SERIES[number % len(SERIES)],
            alpha=1.0 if number < len(SERIES) else 0.5, edgecolor="white", linewidth=0.6,
        )  # fmt: skip
        ends = [end + value for end, value in zip(ends, line.y, strict=True)]
    drawing.axes.set_xlim(0, max(ends) * 1.03)
    _name_lines(drawing, [line.name for line in chart.lines], bars=True)
    return _finished(drawing, chart, upright=False)


def beside(chart: Chart) -> str:
    """For each x a bar of each line, one below the other, with its number."""
    labels = [str(x) for x in chart.lines[0].x]
    drawing = _rows(labels, right=max(wide(line.name) for line in chart.lines) + 60)
    drawing.axes.set_xlim(0, 1.08 * max(max(line.y) for line in chart.lines))
    height = 0.8 / len(chart.lines)
    for number, line in enumerate(chart.lines):
        for row, value in enumerate(line.y):
            at = row - 0.4 + (number + 0.5) * height
            drawing.axes.barh(at, value, height=height, color=SERIES[number % len(SERIES)])
            across, up = drawing.pixels(value, at)
            drawing.write(across + 4, up, f"{value:,.3g}", verticalalignment="center_baseline", fontsize=SIZE - 2)
    _name_lines(drawing, [line.name for line in chart.lines], bars=True)
    return _finished(drawing, chart, upright=False)


def _rows(labels: Sequence[str], right: float) -> Drawing:
    """A drawing with a named row for each bar, the first on top."""
    drawing = Drawing(WIDTH, FOOT + 12 + BAR * max(len(labels), 4))
    # Long names are cut by the drawing.
    left = min(max(map(wide, labels)), wide("n" * 40)) + 14
    drawing.place(left=left, bottom=FOOT, right=right, top=12)
    drawing.axes.set(ylim=(len(labels) - 0.4, -0.6), yticks=[])
    drawing.axes.grid(visible=False, axis="y")
    for row, label in enumerate(labels):
        drawing.write(
            left - 8, drawing.pixels(0, row)[1], label, horizontalalignment="right", verticalalignment="center_baseline"
        )  # fmt: skip
    return drawing


def _ends(line: Line, place: int) -> tuple[float, float]:
    low = line.low[place] if line.low else line.y[place]
    high = line.high[place] if line.high else line.y[place]
    return min(low, line.y[place]), max(high, line.y[place])


def _around(values: Sequence[float]) -> tuple[float, float]:
    """The ends of a log axis with room around these."""
    room = max((max(values) / min(values)) ** 0.06, 1.05)
    return min(values) / room, max(values) * room


def _plain_ticks(drawing: Drawing, across: Sequence[float]) -> None:
    """What was measured as ticks below, and numbers without powers of ten to the left."""
    axes = drawing.axes
    axes.set_xticks(across, [""] * len(across))
    axes.set_xticks([], minor=True)
    for x in across:
        drawing.write(
            drawing.pixels(x, axes.get_ylim()[0])[0], FOOT - 8, f"{x:,.0f}",
            horizontalalignment="center", verticalalignment="top",
        )  # fmt: skip
    low, high = axes.get_ylim()
    steps = [
        m * 10.0**e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1) for m in (1, 2, 5)
    ]
    inside = [step for step in steps if low <= step <= high]
    axes.set_yticks(inside, [f"{step:g}" for step in inside])
    axes.set_yticks([], minor=True)


def _name_lines(drawing: Drawing, names: Sequence[str], *, bars: bool = False) -> None:
    """The names with their marks, one below the other, to the right."""
    from matplotlib.lines import Line2D

    right = drawing.width * drawing.axes.get_position().x1
    for number, name in enumerate(names):
        height = drawing.height - HEAD - number * (SIZE + 6)
        drawing.figure.add_artist(
            Line2D(
                [(right + 14) / drawing.width], [height / drawing.height], color=SERIES[number % len(SERIES)],
                marker="s" if bars else MARKERS[number % len(MARKERS)], markersize=7, markeredgewidth=0,
                linestyle="none", alpha=1.0 if number < len(SERIES) else 0.5,
            )
        )  # fmt: skip
        drawing.write(right + 24, height, name, verticalalignment="center_baseline")


def _finished(drawing: Drawing, chart: Chart, *, upright: bool) -> str:
    drawing.name_axes(chart.axes[0], chart.axes[1] if upright else "")
    # A page of documentation may be dark, and knows nothing of our classes.
    drawing.figure.patch.set(visible=True, facecolor="white")
    named = ", ".join(line.name for line in chart.lines)
    return drawing.svg(chart.title, f"{chart.title}: {named}.") + "\n"
