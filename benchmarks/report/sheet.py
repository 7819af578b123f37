"""A white sheet with shapes and texts in the look of the reports' charts, but with log axes and bars, as SVG."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from campaigns.charts.element import element, number
from campaigns.charts.lettering import FONT, SIZE, text_width
from campaigns.charts.markers import marker_path
from campaigns.charts.palette import INK, LINE, SOFT

if TYPE_CHECKING:
    from collections.abc import Sequence

FEET = 0.38
"""From the middle of a line of text down to its letters' feet, as a share of their size."""


@dataclass(frozen=True)
class Scale:
    """Numbers -> pixels along an axis that begins at one pixel and ends at another."""

    low: float
    high: float
    begin: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """Where a number is."""
        low, high, at = (math.log(each) if self.logarithmic else each for each in (self.low, self.high, value))
        return self.begin + (self.end - self.begin) * (at - low) / (high - low)

    def ticks(self, most: int = 7) -> list[float]:
        """At most so many round numbers: powers of ten, with 2 and 5 between them where there is room."""
        if not self.logarithmic:
            step = next(step for step in _steps(self.high / most) if self.high / step <= most)
            return [step * count for count in range(int(self.high / step) + 1)]
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for digits in ((1, 2, 5), (1, 3), (1,)):
            found = [digit * 10.0**power for power in powers for digit in digits]
            inside = [value for value in found if self.low <= value <= self.high]
            if len(inside) <= most:
                break
        return inside


def _steps(about: float) -> list[float]:
    power = 10.0 ** math.floor(math.log10(about))
    return [power * digit for digit in (1, 2, 5, 10, 20)]


@dataclass
class Sheet:
    """So many pixels, y grows downwards."""

    width: int
    height: int
    _parts: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, text: str, anchor: str = "start", size: float = SIZE) -> None:
        """A line whose start, middle or end is at x, and whose middle is at this height."""
        place = {"x": float(x), "y": y + FEET * size}
        self._parts.append(element("text", text, **place, font_size=size, text_anchor=anchor, fill=INK))

    def line(
        self, ends: Sequence[tuple[float, float]], colour: str = LINE, width: float = 0.6, dashes: Sequence[float] = ()
    ) -> None:
        """Straight, through these points."""
        dashed = {"stroke_dasharray": " ".join(number(width * each) for each in dashes)} if dashes else {}
        path = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in ends)
        self._parts.append(element("path", d=path, fill="none", stroke=colour, stroke_width=float(width), **dashed))

    def bar(self, begin: float, end: float, middle: float, thickness: float, colour: str, opacity: float = 1.0) -> None:
        """Lying, from one x to another, which may be to the left."""
        left, across = min(begin, end), abs(end - begin)
        place = {"x": left, "y": middle - thickness / 2, "width": across, "height": thickness}
        self._parts.append(element("rect", **place, fill=colour, fill_opacity=opacity))

    def mark(self, x: float, y: float, marker: str, colour: str, opacity: float = 1.0) -> None:
        """A point."""
        where = f"translate({number(x)} {number(y)})"
        self._parts.append(
            element("path", d=marker_path(marker, 7), transform=where, fill=colour, fill_opacity=opacity)
        )

    def across(self, scale: Scale, top: float, bottom: float, ticks: Sequence[float] | None = None) -> None:
        """The axis below, with a faint line upwards at each tick; numbers that would touch are left out."""
        taken = -math.inf
        for value in scale.ticks() if ticks is None else ticks:
            x, label = scale(value), shown(value)
            self.line([(x, top), (x, bottom)])
            self.line([(x, bottom), (x, bottom + 4)], SOFT, 1)
            if x - text_width(label) / 2 > taken:
                self.text(x, bottom + 12, label, "middle")
                taken = x + text_width(label) / 2
        self.line([(scale.begin, bottom), (scale.end, bottom)], SOFT, 1)

    def upwards(self, scale: Scale, left: float, right: float) -> None:
        """The axis to the left, with a faint line across at each tick."""
        for value in scale.ticks():
            self.line([(left, scale(value)), (right, scale(value))])
            self.line([(left - 4, scale(value)), (left, scale(value))], SOFT, 1)
            self.text(left - 7, scale(value), shown(value), "end")
        self.line([(left, scale.begin), (left, scale.end)], SOFT, 1)

    def svg(self, title: str, description: str) -> str:
        """All of it, on a white ground: a page of documentation may be dark."""
        box = f'width="{self.width}" height="{self.height}"'
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {box} viewBox="0 0 {self.width} {self.height}" '
            f'font-family="{FONT}">'
        )
        told = element("title", title) + element("desc", description)
        return f'{head}{told}<rect {box} fill="#ffffff"/>{"".join(self._parts)}</svg>\n'


def shown(value: float) -> str:
    """A number of an axis."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"
