"""The colours of charts: in a file as they stand here, in a page by the page's own rules for these classes."""

from __future__ import annotations

INK = "#1b1f24"
SOFT = "#5a6270"
LINE = "#c9ccd1"
SERIES = ("#0b5cad", "#b35400", "#00785a", "#a0307a", "#6a5d00", "#5b4bb5")
"""Told apart by people who see few colours, too; on white each has a contrast of at least 4.5. Beyond six they repeat:
markers and dashes tell series apart, colours only help."""

DASHES: tuple[tuple[float, ...], ...] = (
    *((), (5, 2), (1.2, 1.6), (5, 2, 1.2, 2)),
    *((9, 2), (5, 1.5, 1.2, 1.5, 1.2, 1.5), (2.5, 2)),
)
"""Lengths of strokes and gaps in turn, as multiples of the line's width; none for a whole line."""

CLASSES = {INK: "ink", SOFT: "soft", LINE: "line"} | {colour: f"s{n}" for n, colour in enumerate(SERIES, 1)}
"""Colour -> what the class of an element that has it ends in: `fill-s1`, `stroke-ink`."""
