"""Line charts: a value along an axis, such as a score by segment length or a correlation by a metric's parameter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from campaigns.charts.drawing import Drawing
from campaigns.charts.lettering import SIZE, shortened, text_width
from campaigns.charts.markers import MARKERS
from campaigns.charts.palette import DASHES, SERIES

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Series:
    """One line. NaN leaves a gap."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    """With `high` the ends of an interval at each x, drawn as a band."""
    high: Sequence[float] | None = None


def curve(
    series: Sequence[Series],
    x_label: str,
    y_label: str,
    *,
    ticks: Sequence[str] | None = None,
    mark: float | None = None,
    joined: bool = True,
    title: str = "",
    description: str = "",
    width: int = 640,
    height: int = 320,
) -> str:
    """Return an SVG of lines that differ by marker, dashes and a name at their end, not by colour alone.

    `ticks` names the places 0, 1, 2 ... of an axis without numbers; `mark` draws a vertical line at an x, such as the
    chosen value. `joined` is False for points that are not ordered along the axis.
    """
    names = [shortened(each.name, 24) for each in series]
    room = max([text_width(name) for name in names], default=0.0) + 26
    drawing = Drawing(width, height, (52, 28, room, 44))
    across = [x for each in series for x in each.x]
    up = [
        value
        for each in series
        for values in (each.y, each.low or (), each.high or ())
        for value in values
        if math.isfinite(value)
    ]
    if across and up:
        drawing.span(across, up)
    for number, each in enumerate(series):
        _draw(drawing, each, number, joined=joined)
    if mark is not None:
        drawing.upright(mark, SERIES[1], 1.2, (2, 2))
    if ticks is not None:
        drawing.mark_places(range(len(ticks)))
        for place, text in enumerate(ticks):
            drawing.write(drawing.pixels(place, 0)[0], height - 36, text, "middle", "below")
    drawing.name_axes(x_label, y_label)
    _name_lines(drawing, series, names)
    return drawing.svg(
        title or f"{y_label} by {x_label}", description or f"Lines of {', '.join(each.name for each in series)}."
    )


def _draw(drawing: Drawing, series: Series, number: int, *, joined: bool) -> None:
    """The line of this number with its band and its points."""
    colour = SERIES[number % len(SERIES)]
    points = list(zip(series.x, series.y, strict=True))
    if series.low is not None and series.high is not None:
        drawing.band(list(zip(series.x, series.low, series.high, strict=True)), colour)
    if joined:
        drawing.line(points, colour, 1.8, DASHES[number % len(DASHES)])
    for x, y in points:
        if math.isfinite(y):
            drawing.mark(*drawing.pixels(x, y), MARKERS[number % len(MARKERS)], 6, colour)


def _name_lines(drawing: Drawing, series: Sequence[Series], names: Sequence[str]) -> None:
    """Write the names at the right, each as near to its line's end as the others allow, with its marker."""
    wanted = []
    for number, each in enumerate(series):
        ends = [(x, y) for x, y in zip(each.x, each.y, strict=True) if math.isfinite(y)]
        if ends:
            wanted.append((drawing.pixels(*ends[-1])[1], number))
    wanted.sort()
    step, frame = SIZE + 4, drawing.frame
    heights: list[float] = []
    for height, _ in wanted:
        heights.append(max(height, heights[-1] + step if heights else frame.top))
    # Names pushed below the axis push the others up again.
    floor = frame.bottom
    for position in reversed(range(len(heights))):
        heights[position] = min(heights[position], floor)
        floor = heights[position] - step
    for height, (_, number) in zip(heights, wanted, strict=True):
        drawing.mark(frame.right + 8, height, MARKERS[number % len(MARKERS)], 6, SERIES[number % len(SERIES)])
        drawing.write(frame.right + 16, height, names[number])
