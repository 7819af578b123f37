"""The colours of charts: these in a file, those of the page's style sheet for the same classes in a page."""

from __future__ import annotations

INK = "#1b1f24"
SOFT = "#5a6270"
LINE = "#c9ccd1"
SERIES = ("#0b5cad", "#b35400", "#00785a", "#a0307a", "#6a5d00", "#5b4bb5")
"""Distinguishable with colour blindness; on white each has a contrast of at least 4.5.

They repeat after six: markers and dashes distinguish series, colours only help.
"""

DASHES: tuple[tuple[float, ...], ...] = (
    *((), (5, 2), (1.2, 1.6), (5, 2, 1.2, 2)),
    *((9, 2), (5, 1.5, 1.2, 1.5, 1.2, 1.5), (2.5, 2)),
)
"""Alternating lengths of strokes and gaps, as multiples of the line's width; empty for a solid line."""

CLASSES = {INK: "ink", SOFT: "soft", LINE: "line"} | {colour: f"s{n}" for n, colour in enumerate(SERIES, 1)}
"""Colour -> ending of the class of an element with that colour: `fill-s1`, `stroke-ink`."""
