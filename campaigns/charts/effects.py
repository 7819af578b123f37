"""Effect sizes: one row for each difference, with its interval, around a line at zero."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from campaigns.charts.drawing import Drawing
from campaigns.charts.lettering import shortened, text_width
from campaigns.charts.markers import CIRCLE
from campaigns.charts.palette import SERIES, SOFT

if TYPE_CHECKING:
    from collections.abc import Sequence

ROW = 26
"""Height of a row in pixels."""
LONGEST_NAME = 56
BETTER, WORSE = SERIES[0], SERIES[1]


@dataclass(frozen=True)
class Effect:
    """A difference between two things."""

    name: str
    value: float
    low: float
    high: float
    """The ends of its interval; NaN where there is none."""
    certain: bool
    """Whether it is significant; others are drawn in grey."""
    good: bool = True
    """Whether the difference is an improvement."""


def effects(
    rows: Sequence[Effect], x_label: str, *, title: str, description: str = "", width: int = 760, ends: float = 0.0
) -> str:
    """Return an SVG of the rows from top to bottom. The axis includes zero, and reaches at least `ends` to both sides.

    What is not certain is grey and has a smaller point.
    """
    names = [shortened(each.name, LONGEST_NAME) for each in rows]
    left = min(max([text_width(name) for name in names], default=0.0) + 20, width / 2)
    height = ROW * max(len(rows), 1) + 28 + 44
    drawing = Drawing(width, height, (left, 16, 24, 44))
    across = [value for each in rows for value in (each.value, each.low, each.high) if math.isfinite(value)]
    drawing.span([0.0, -ends, ends, *across], [0.0, float(max(len(rows), 1))])
    drawing.leave_left_bare()
    drawing.upright(0.0, SOFT, 1.4)
    for place, (each, name) in enumerate(zip(rows, names, strict=True)):
        level = len(rows) - place - 0.5
        colour = SOFT if not each.certain else BETTER if each.good else WORSE
        if math.isfinite(each.low) and math.isfinite(each.high):
            drawing.level(level, (each.low, each.high), colour, 2.2)
        x, y = drawing.pixels(each.value, level)
        drawing.mark(x, y, CIRCLE, 9 if each.certain else 6, colour)
        drawing.write(drawing.frame.left - 10, y, name, "end", longest=LONGEST_NAME)
    drawing.name_axes(x_label, "")
    return drawing.svg(title, description or f"Differences: {'; '.join(names)}.")
