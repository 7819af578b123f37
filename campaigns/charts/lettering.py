"""Texts in a chart: valid characters, length, and approximate width."""

from __future__ import annotations

import re

FONT = "system-ui, 'Liberation Sans', Arial, sans-serif"
SIZE = 11.0
"""Font size in pixels."""
WIDTH_OF_LETTER = 0.56
"""Of an average letter, as a share of the font size."""
MAX_LABEL_LENGTH = 40
"""Characters of a text in a chart; longer ones are cut."""
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")
"""Characters that are invalid in XML, or invisible."""


def writable(text: str) -> str:
    """Replace characters that are invalid in XML, or invisible."""
    return _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def shortened(text: str, longest: int = MAX_LABEL_LENGTH) -> str:
    """Cut to at most so many characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def text_width(text: str, size: float = SIZE) -> float:
    """Return the approximate width of a text in pixels."""
    import unicodedata

    doubles = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return size * (WIDTH_OF_LETTER * len(text) + 0.44 * doubles)
