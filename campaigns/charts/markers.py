"""Markers of points, distinguished by shape."""

from __future__ import annotations

from math import cos, pi, sin

CIRCLE = "circle"
_TRIANGLE = ((0.0, -1.0), (1.0, 1.0), (-1.0, 1.0))
_CROSS = (
    *((-0.5, -1.0), (0.0, -0.5), (0.5, -1.0), (1.0, -0.5), (0.5, 0.0), (1.0, 0.5)),
    *((0.5, 1.0), (0.0, 0.5), (-0.5, 1.0), (-1.0, 0.5), (-0.5, 0.0), (-1.0, -0.5)),
)
_PLUS = (
    *((-1 / 3, -1.0), (1 / 3, -1.0), (1 / 3, -1 / 3), (1.0, -1 / 3), (1.0, 1 / 3), (1 / 3, 1 / 3)),
    *((1 / 3, 1.0), (-1 / 3, 1.0), (-1 / 3, 1 / 3), (-1.0, 1 / 3), (-1.0, -1 / 3), (-1 / 3, -1 / 3)),
)
_STAR = tuple(
    (length * sin(turn * pi / 5), -length * cos(turn * pi / 5))
    for turn, length in enumerate((1.0, 0.382, 1.0, 0.382, 1.0, 0.382, 1.0, 0.382, 1.0, 0.382))
)
_SHAPES = {
    "square": ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)),
    "up": _TRIANGLE,
    "diamond": ((0.0, -1.414), (1.414, 0.0), (0.0, 1.414), (-1.414, 0.0)),
    "down": tuple((x, -y) for x, y in _TRIANGLE),
    "plus": _PLUS,
    "cross": _CROSS,
    "left": tuple((y, x) for x, y in _TRIANGLE),
    "right": tuple((-y, x) for x, y in _TRIANGLE),
    "star": _STAR,
}
"""Corners around 0, in halves of a marker's size; y grows downwards."""

MARKERS = (CIRCLE, *_SHAPES)


def marker_path(marker: str, size: float) -> str:
    """Return the outline of one of MARKERS around the origin, of this width in pixels, as the `d` of an SVG path."""
    half = size / 2
    if marker == CIRCLE:
        arc = f"A{half:g} {half:g} 0 1 1"
        return f"M{half:g} 0{arc} {-half:g} 0{arc} {half:g} 0z"
    return "M" + "L".join(f"{half * x:.3g} {half * y:.3g}" for x, y in _SHAPES[marker]) + "z"
