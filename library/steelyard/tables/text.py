"""Tables as plain text that can be piped, searched and pasted."""

from __future__ import annotations

import math
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


def aligned(rows: Sequence[Sequence[str]], rules: Collection[int] = ()) -> str:
    """The rows as columns, every line ended; a rule below the first row and below those of these numbers."""
    widths = [max(display_width(row[column]) for row in rows) for column in range(len(rows[0]))]
    rule = "  ".join("-" * width for width in widths if width)
    lines = []
    for number, row in enumerate(rows):
        lines += [_line(row, widths), rule] if number in {0, *rules} else [_line(row, widths)]
    return "\n".join(lines) + "\n"


def display_width(text: str) -> int:
    """The number of terminal cells that the text occupies."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    marks = sum(bool(unicodedata.combining(character)) for character in text)
    return len(text) + wide - marks


def digits(asked: int, scale: float) -> int:
    """Digits after the point for scores on this scale: at least three where it has no end (small scores)."""
    return asked if math.isfinite(scale) else max(asked, 3)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [text + " " * (width - display_width(text)) for text, width in zip(row, widths, strict=True)]
    return "  ".join(cells).rstrip()
