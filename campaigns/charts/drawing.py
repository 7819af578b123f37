"""A chart under construction: one pair of axes and what is drawn on it, as SVG for a page."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from campaigns.charts.element import element, number, written
from campaigns.charts.lettering import FONT, MAX_LABEL_LENGTH, SIZE, WIDTH_OF_LETTER, shortened
from campaigns.charts.markers import marker_path
from campaigns.charts.palette import INK, LINE, SOFT
from campaigns.charts.ticks import MAX_STEPS, Ticks, ticks_between

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = "\x1f"
"""Placeholder for the name of the chart until it is known: no text can contain it."""
BASELINE = {"above": -0.24, "middle": 0.38, "below": 0.76}
"""From the height of a text to its baseline, as a share of the font size."""
TICK = 4.0


@dataclass(frozen=True)
class Frame:
    """The axes, in pixels from the top left corner."""

    left: float
    top: float
    right: float
    bottom: float


class Drawing:
    """One pair of axes; `svg` gives the chart.

    Sizes are in pixels; `margins` around the axes are left, top, right, bottom.
    """

    def __init__(self, width: int, height: int, margins: tuple[float, float, float, float]) -> None:
        left, top, right, bottom = margins
        self.width, self.height = width, height
        self.frame = Frame(left, top, width - right, height - bottom)
        self._x, self._y = (0.0, 1.0), (0.0, 1.0)
        self._ticks: tuple[Ticks | None, Ticks | None] = (None, None)
        self._parts: list[tuple[str, str]] = []
        """Elements in order, each after the attributes that it shares with others of its kind, or after ""."""
        self._markers: dict[tuple[str, float], str] = {}

    def span(self, x: Sequence[float], y: Sequence[float], turned: tuple[bool, bool] = (False, False)) -> None:
        """Fit the axes to these values: at least one each, all finite. Turned ones begin with the largest value."""
        ends = padded_range(x), padded_range(y)
        self._x, self._y = (each[::-1] if is_turned else each for each, is_turned in zip(ends, turned, strict=True))

    def mark_places(self, places: Sequence[float]) -> None:
        """Set ticks without numbers at these places of the lower axis, instead of round numbers."""
        self._ticks = Ticks(places, [""] * len(places)), self._ticks[1]

    def leave_bare(self) -> None:
        """Draw no ticks and no numbers, since there is no data."""
        self._ticks = Ticks((), ()), Ticks((), ())

    def leave_left_bare(self) -> None:
        """Draw no ticks and no numbers on the left axis, whose places have names."""
        self._ticks = self._ticks[0], Ticks((), ())

    def pixels(self, x: float, y: float) -> tuple[float, float]:
        """Return the pixel coordinates of a point."""
        frame = self.frame
        across = (x - self._x[0]) / (self._x[1] - self._x[0])
        up = (y - self._y[0]) / (self._y[1] - self._y[0])
        return frame.left + across * (frame.right - frame.left), frame.bottom - up * (frame.bottom - frame.top)

    def write(
        self, x: float, y: float, text: str, anchor: str = "start", height: str = "middle", *,
        size: float = SIZE, colour: str = INK, longest: int = MAX_LABEL_LENGTH,
    ) -> None:  # fmt: skip
        """Write a text whose start, middle or end is at this place in pixels: above, below or centred on it."""
        place: dict[str, str | float] = {"x": x, "y": y + BASELINE[height] * size}
        if anchor != "start":
            place["text_anchor"] = anchor
        self._parts.append((written(font_size=size, fill=colour), element("text", shortened(text, longest), **place)))

    def mark(self, x: float, y: float, marker: str, size: float, colour: str) -> None:
        """Draw a marker at this place in pixels."""
        name = self._markers.setdefault((marker, size), f"{HERE}-m{len(self._markers)}")
        self._parts.append((written(fill=colour), element("use", href=f"#{name}", x=x, y=y)))

    def line(
        self, points: Sequence[tuple[float, float]], colour: str, width: float, dashes: Sequence[float] = ()
    ) -> None:
        """Draw a line through points in axis coordinates, with a gap at NaN."""
        runs = [[self.pixels(*point) for point in run] for run in _runs(points)]
        if runs:
            self._stroke("".join("M" + _path(run) for run in runs), colour, width, dashes)

    def band(self, points: Sequence[tuple[float, float, float]], colour: str) -> None:
        """Fill between two heights at each x, faintly, with a gap at NaN."""
        outlines = []
        for run in _runs(points):
            there = [self.pixels(x, low) for x, low, _ in run]
            back = [self.pixels(x, high) for x, _, high in reversed(run)]
            outlines.append(f"M{_path([*there, *back])}z")
        if outlines:
            self._parts.append(("", element("path", d="".join(outlines), fill=colour, fill_opacity=0.14)))

    def upright(self, x: float, colour: str, width: float, dashes: Sequence[float] = ()) -> None:
        """Draw a vertical line at an x, if the axis includes it."""
        if self._x[0] <= x <= self._x[1]:
            self.line([(x, self._y[0]), (x, self._y[1])], colour, width, dashes)

    def level(
        self, y: float, between: tuple[float, float], colour: str, width: float, dashes: Sequence[float] = ()
    ) -> None:
        """Draw a horizontal line from one x to another, as far as the axes reach."""
        if self._y[0] <= y <= self._y[1]:
            ends = (max(between[0], self._x[0]), min(between[1], self._x[1]))
            self.line([(end, y) for end in ends], colour, width, dashes)

    def name_axes(self, x_label: str, y_label: str) -> None:
        """Write the axis labels: below, and above the left axis, where it is readable horizontally."""
        middle = (self.frame.left + self.frame.right) / 2
        self.write(middle, self.height - 4, x_label, "middle", "above")
        # It has the whole width for itself.
        room = max(MAX_LABEL_LENGTH, int(self.width / (WIDTH_OF_LETTER * SIZE)) - 2)
        self.write(4, 4, y_label, "start", "below", longest=room)

    def svg(self, title: str, description: str) -> str:
        """Return the chart; the same bytes for the same chart."""
        shapes = "".join(
            element("path", id=name, d=marker_path(marker, size)) for (marker, size), name in self._markers.items()
        )
        parts, self._parts = self._parts, []
        self._draw_axes()
        axes, self._parts = self._parts, parts
        body = f"<defs>{shapes}</defs>{''.join(_grouped((*axes, *parts)))}"
        name = "c" + hashlib.sha256(repr((body, title, self.width, self.height)).encode()).hexdigest()[:10]
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" '
            f'aria-labelledby="{name}-title {name}-description" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" font-family="{FONT}">'
        )
        told = element("title", title, id=f"{name}-title") + element("desc", description, id=f"{name}-description")
        return f"{head}{told}{body.replace(HERE, name)}</svg>"

    def _draw_axes(self) -> None:
        frame, (below, beside) = self.frame, self._ticks
        below = below or ticks_between(min(self._x), max(self._x))
        beside = beside or ticks_between(min(self._y), max(self._y), _steps(frame))
        across = [self.pixels(place, 0)[0] for place in below.places]
        heights = [self.pixels(0, place)[1] for place in beside.places]
        grid = [
            *(((x, frame.bottom), (x, frame.top)) for x in across),
            *(((frame.left, y), (frame.right, y)) for y in heights),
        ]
        ticks = [
            *(((x, frame.bottom), (x, frame.bottom + TICK)) for x in across),
            *(((frame.left, y), (frame.left - TICK, y)) for y in heights),
        ]
        for lines, colour, width in ((grid, LINE, 0.6), (ticks, SOFT, 1)):
            if lines:
                self._stroke("".join(f"M{_path(line)}" for line in lines), colour, width)
        for x, label in zip(across, below.labels, strict=True):
            if label:
                self.write(x, frame.bottom + TICK + 3.5, label, "middle", "below")
        for y, label in zip(heights, beside.labels, strict=True):
            self.write(frame.left - TICK - 3.5, y, label, "end")
        if below.note:
            self.write(frame.right, frame.bottom + TICK + 18, below.note, "end", "below", size=SIZE - 1)
        if beside.note:
            self.write(frame.left, frame.top - 3, beside.note, "start", "above", size=SIZE - 1)
        corner = [(frame.left, frame.top), (frame.left, frame.bottom), (frame.right, frame.bottom)]
        self._stroke(f"M{_path(corner)}", SOFT, 1)

    def _stroke(self, path: str, colour: str, width: float, dashes: Sequence[float] = ()) -> None:
        dashed = {"stroke_dasharray": " ".join(number(width * each) for each in dashes)} if dashes else {}
        line = element("path", d=path, fill="none", stroke=colour, stroke_width=float(width), **dashed)
        self._parts.append(("", line))


def padded_range(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis with padding around these values."""
    low, high = float(min(values)), float(max(values))
    room = 0.06 * (high - low) or max(abs(high) * 0.01, 1e-6)
    assert math.isfinite(room), "an axis needs finite values"
    return low - room, high + room


def _steps(frame: Frame) -> int:
    """Return how many numbers fit along the left axis."""
    return max(1, min(MAX_STEPS, int((frame.bottom - frame.top) / (2 * SIZE))))


def _runs(points: Sequence[tuple[float, ...]]) -> Iterator[list[tuple[float, ...]]]:
    """Yield runs of points without NaN; a single point is no line."""
    run: list[tuple[float, ...]] = []
    for point in (*points, (math.nan,)):
        if all(map(math.isfinite, point)):
            run.append(point)
            continue
        if len(run) > 1:
            yield run
        run = []


def _grouped(parts: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield elements; those beside each other that look alike share a group, which says it once."""
    for look, run in groupby(parts, key=itemgetter(0)):
        elements = "".join(each for _, each in run)
        yield f"<g{look}>{elements}</g>" if look else elements


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "L".join(f"{number(x)} {number(y)}" for x, y in points)
