"""Texts of servers as terminals may show them. It is `steelyard.text.names.visible`: the client needs no library."""

from __future__ import annotations

import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"
_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"
"""Letters and marks that take no ink."""


def visible(text: str) -> str:
    """A text in which whatever controls or hides something is escaped; lines, tabs and joiners stay."""
    if text.isprintable():
        return text
    return "".join(ascii(c)[1:-1] if _hides(c) and c not in "\n\t" else c for c in text)


def _hides(character: str) -> bool:
    return (unicodedata.category(character) in _HIDDEN and character not in _JOINERS) or character in _FILLERS
