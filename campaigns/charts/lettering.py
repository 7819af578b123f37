"""Texts in a chart: what can be written, how long, and about how wide it is."""

from __future__ import annotations

import re

FONT = "system-ui, 'Liberation Sans', Arial, sans-serif"
SIZE = 11.0
"""Of letters, in pixels."""
WIDTH_OF_LETTER = 0.56
"""Of a letter of the middling kind, as a share of its size."""
LONGEST_LABEL = 40
"""Letters of a text in a chart; longer ones are cut."""
_UNCONTROLLED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")
"""What XML cannot hold, or nobody can see."""


def writable(text: str) -> str:
    """The text without what XML cannot hold, or nobody can see."""
    return _UNCONTROLLED.sub("\N{REPLACEMENT CHARACTER}", text)


def shortened(text: str, longest: int = LONGEST_LABEL) -> str:
    """At most so many letters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def wide(text: str, size: float = SIZE) -> float:
    """About how many pixels a text takes."""
    import unicodedata

    doubles = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return size * (WIDTH_OF_LETTER * len(text) + 0.44 * doubles)
