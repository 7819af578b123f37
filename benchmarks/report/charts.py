"""Pictures of what benchmarks found: ratios, growth, parts of a whole, and figures side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.report.fit import power
from benchmarks.report.sheet import Scale, Sheet
from campaigns.charts.lettering import SIZE, shortened, text_width
from campaigns.charts.markers import MARKERS
from campaigns.charts.palette import DASHES, INK, SERIES, SOFT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.report.section import Chart, Line

WIDTH = 860
BAR = 22
"""Pixels from one bar to the next."""
FOOT = 44
LONGEST = 76
"""Letters of the name of a bar."""


def draw(chart: Chart) -> str:
    """The SVG; the same bytes for the same figures."""
    return {"ratios": ratios, "growth": growth, "stacked": stacked, "beside": beside}[chart.kind](chart)


def ratios(chart: Chart) -> str:
    """A bar from 1 for each workload on a log axis, its least and most as a whisker, a colour for each peer."""
    bars = [(line, place, *_ends(line, place)) for line in chart.lines for place in range(len(line.x))]
    labels = [f"{line.x[place]} ({line.name})" for line, place, _, _ in bars]
    ends = (min([1.0, *(low for *_, low, _ in bars)]) / 1.1, max([10.0, *(high for *_, high in bars)]))
    sheet, scale = _rows(chart, labels, ends, right=64, logarithmic=True)
    peers = [line.name for line in chart.lines]
    for row, (line, place, low, high) in enumerate(bars):
        value, middle = line.y[place], _middle(row)
        sheet.bar(scale(1), scale(value), middle, 0.62 * BAR, _colour(peers.index(line.name)), 0.85)
        sheet.line([(scale(low), middle), (scale(high), middle)], INK, 1.2)
        sheet.text(scale(max(high, 1)) + 5, middle, f"{value:,.1f}×")
    sheet.line([(scale(1), _middle(-0.5)), (scale(1), _middle(len(bars) - 0.5))], SOFT, 1)
    return _finished(sheet, chart)


def growth(chart: Chart) -> str:
    """Points with the fitted power as a line, log-log; the exponent stands beside the name."""
    fits = [power(line.x, line.y) for line in chart.lines]  # type: ignore[arg-type]
    names = [f"{line.name}: exponent {fit[0]:.2f}" for line, fit in zip(chart.lines, fits, strict=True)]
    sheet = Sheet(WIDTH, 340)
    right, bottom = WIDTH - max(map(text_width, names)) - 34, sheet.height - FOOT
    places = sorted({float(x) for line in chart.lines for x in line.x})
    across = Scale(*_around(places), 64, right, logarithmic=True)
    up = Scale(*_around([y for line in chart.lines for y in line.y]), bottom, 28, logarithmic=True)
    sheet.across(across, 28, bottom, places)
    sheet.upwards(up, 64, right)
    for index, (line, (exponent, factor)) in enumerate(zip(chart.lines, fits, strict=True)):
        ends = [min(map(float, line.x)), max(map(float, line.x))]
        fitted = [(across(end), up(factor * end**exponent)) for end in ends]
        sheet.line(fitted, _colour(index), 1.5, DASHES[index % len(DASHES)])
        for x, y in zip(line.x, line.y, strict=True):
            sheet.mark(across(float(x)), up(y), _marker(index), _colour(index))
    _name_lines(sheet, names, right, [_marker(index) for index in range(len(names))])
    sheet.text(4, 12, chart.axes[1])
    sheet.text((64 + right) / 2, bottom + 32, chart.axes[0], "middle")
    return _finished(sheet, chart)


def stacked(chart: Chart) -> str:
    """A bar for each x, made of the lines' values one after the other."""
    labels, names = [str(x) for x in chart.lines[0].x], [line.name for line in chart.lines]
    longest = max(sum(line.y[row] for line in chart.lines) for row in range(len(labels)))
    least = 40 + (SIZE + 6) * len(names)
    sheet, scale = _rows(chart, labels, (0, longest), right=max(map(text_width, names)) + 40, least=least)
    ends = [0.0] * len(labels)
    for index, line in enumerate(chart.lines):
        for row, value in enumerate(line.y):
            middle = _middle(row)
            sheet.bar(scale(ends[row]), scale(ends[row] + value), middle, 0.62 * BAR, _colour(index), _opacity(index))
            ends[row] += value
    _name_lines(sheet, names, scale.end, ["square"] * len(names))
    return _finished(sheet, chart)


def beside(chart: Chart) -> str:
    """For each x a bar of each line, one below the other, with its number."""
    labels, names = [str(x) for x in chart.lines[0].x], [line.name for line in chart.lines]
    highest = max(max(line.y) for line in chart.lines)
    sheet, scale = _rows(chart, labels, (0, highest), right=max(map(text_width, names)) + 84)
    thickness = 0.84 / len(names)
    for index, line in enumerate(chart.lines):
        for row, value in enumerate(line.y):
            middle = _middle(row - 0.42 + (index + 0.5) * thickness)
            sheet.bar(scale(0), scale(value), middle, thickness * BAR, _colour(index))
            sheet.text(scale(value) + 4, middle, f"{value:,.0f}" if value >= 100 else f"{value:.3g}", size=SIZE - 2)
    _name_lines(sheet, names, scale.end + 44, ["square"] * len(names))
    return _finished(sheet, chart)


def _rows(
    chart: Chart, labels: Sequence[str], ends: tuple[float, float], right: float, least: float = 110, *,
    logarithmic: bool = False,
) -> tuple[Sheet, Scale]:  # fmt: skip
    """A sheet with a named row for each bar, the first on top, and the axis below them."""
    names = [shortened(label, LONGEST) for label in labels]
    left = max(map(text_width, names)) + 14
    bottom = _middle(len(labels) - 0.5)
    sheet = Sheet(WIDTH, round(max(bottom + FOOT, least)))
    scale = Scale(*ends, left, WIDTH - right, logarithmic)
    sheet.across(scale, _middle(-0.5), bottom)
    sheet.text((scale.begin + scale.end) / 2, bottom + 32, chart.axes[0], "middle")
    for row, name in enumerate(names):
        sheet.text(left - 8, _middle(row), name, "end")
    return sheet, scale


def _middle(row: float) -> float:
    return 12 + BAR * (row + 0.5)


def _ends(line: Line, place: int) -> tuple[float, float]:
    low = line.low[place] if line.low else line.y[place]
    high = line.high[place] if line.high else line.y[place]
    return min(low, line.y[place]), max(high, line.y[place])


def _around(values: Sequence[float]) -> tuple[float, float]:
    """The ends of a log axis with room around these."""
    room = max((max(values) / min(values)) ** 0.06, 1.05)
    return min(values) / room, max(values) * room


def _colour(index: int) -> str:
    return SERIES[index % len(SERIES)]


def _opacity(index: int) -> float:
    """Colours repeat, ever fainter."""
    return (1.0, 0.6, 0.3)[min(index // len(SERIES), 2)]


def _marker(index: int) -> str:
    return MARKERS[index % len(MARKERS)]


def _name_lines(sheet: Sheet, names: Sequence[str], right: float, markers: Sequence[str]) -> None:
    """The names with their marks, one below the other, to the right."""
    for index, (name, marker) in enumerate(zip(names, markers, strict=True)):
        height = 24 + index * (SIZE + 6)
        sheet.mark(right + 14, height, marker, _colour(index), _opacity(index))
        sheet.text(right + 24, height, name)


def _finished(sheet: Sheet, chart: Chart) -> str:
    return sheet.svg(chart.title, f"{chart.title}: {', '.join(line.name for line in chart.lines)}.")
