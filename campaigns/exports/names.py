"""Names as files of mt-metrics-eval can hold them: its reader cuts lines at blanks and names of files at points."""

from __future__ import annotations

import re
from collections.abc import Iterable

from steelyard.text.names import folded

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f/\\]+")
_REFERENCE = re.compile(r"[^\w]+")
RESERVED = ("all", "src")
"""What stands in the place of references in names of metrics."""


class GivenNames:
    """Names that were given, each once, whatever file systems think of case."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {folded(each) for each in taken}

    def give(self, name: str) -> str:
        """Return the name, with a number behind it where another one has it already."""
        number, given = 1, name
        while folded(given) in self._taken:
            number += 1
            given = f"{name}_{number}"
        self._taken.add(folded(given))
        return given


def word(name: str, empty: str = "unnamed") -> str:
    """Return a name as one word that can be the name of a file."""
    found = _BLANKS.sub("_", name).lstrip(".")
    return found or empty


def reference_word(label: str) -> str:
    """Return a reference's label as mt-metrics-eval wants it: A becomes refA; no points, hyphens, `all` or `src`."""
    if len(label) == 1 and label.isalnum():
        return f"ref{label}"
    found = _REFERENCE.sub("_", label) or "ref"
    return f"ref_{found}" if found in RESERVED else found
