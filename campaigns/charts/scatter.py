"""Scatter plots with names: systems by two metrics, or by a metric and human scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from campaigns.charts.drawing import Drawing
from campaigns.charts.lettering import SIZE, shortened, text_width
from campaigns.charts.markers import CIRCLE
from campaigns.charts.palette import SERIES, SOFT

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_NAMED_POINTS = 60
"""With more points, names would only be noise."""
SMALL = SIZE - 1
LEFT = 52
"""Pixels to the left of the axis."""
BESIDE = (
    *((8, 0, "start"), (-8, 0, "end"), (0, -12, "middle"), (0, 12, "middle")),
    *((6, -10, "start"), (6, 10, "start"), (-6, -10, "end"), (-6, 10, "end")),
)
"""Where a name may be: offsets to the right and down from its point, and which end of the name is there."""


def scatter(
    points: Sequence[tuple[str, float, float]],
    x_label: str,
    y_label: str,
    *,
    title: str = "",
    description: str = "",
    width: int = 460,
    height: int = 340,
    turned: tuple[bool, bool] = (False, False),
) -> str:
    """Return an SVG of (name, x, y), without points that miss a value. Names are written where there is room.

    A point has the colour of its place among `points`, so that a name has the same in all charts of these names.
    `turned` axes, across and up, have their largest value at the origin.
    """
    known = [math.isfinite(x) and math.isfinite(y) for _, x, y in points]
    shown = [point for point, is_known in zip(points, known, strict=True) if is_known]
    colours = [SERIES[place % len(SERIES)] for place, is_known in enumerate(known) if is_known]
    drawing = Drawing(width, height, (LEFT, 28, 14, 44))
    if shown:
        drawing.span([x for _, x, _ in shown], [y for _, _, y in shown], turned)
        places = [drawing.pixels(x, y) for _, x, y in shown]
        # By colour, so that each is written once.
        for place, colour in sorted(zip(places, colours, strict=True), key=lambda each: SERIES.index(each[1])):
            drawing.mark(*place, CIRCLE, 5.5, colour)
        _name_points(drawing, [name for name, _, _ in shown[:MAX_NAMED_POINTS]], places)
    else:
        drawing.leave_bare()
    drawing.name_axes(x_label, y_label)
    named = title or f"{y_label} against {x_label}"
    return drawing.svg(named, description or f"{len(shown)} points with their names.")


def _name_points(drawing: Drawing, names: Sequence[str], places: Sequence[tuple[float, float]]) -> None:
    """Write each name at the first place beside its point that is free of points and other names, if any."""
    frame = drawing.frame
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in places]
    for name, (x, y) in zip(names, places, strict=False):
        text = shortened(name, 28)
        across = text_width(text, SMALL)
        for dx, dy, side in BESIDE:
            left = x + dx - {"start": 0, "end": across, "middle": across / 2}[side]
            box = (left, y + dy - 6, left + across, y + dy + 6)
            inside = (
                box[0] >= LEFT + 2
                and box[2] <= drawing.width - 2
                and box[1] >= frame.top - 6
                and box[3] <= frame.bottom + 4
            )
            if inside and not any(_meet(box, other) for other in taken):
                drawing.write(x + dx, y + dy, text, side, size=SMALL, colour=SOFT)
                taken.append(box)
                break


def _meet(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
