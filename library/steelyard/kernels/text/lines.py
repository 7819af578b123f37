"""Where the lines of a text begin, and how many there are."""

from __future__ import annotations

import numpy as np

from steelyard.kernels.bindings import kernel

_NONE = np.empty(0, np.int64)


def line_count(text: bytes) -> int:
    r"""Lines joined by "\n": one more than there are line feeds."""
    return kernel("lines_cut")(text, len(text) + 1, _NONE) + 1


def line_cuts(text: bytes, lines: int) -> list[int]:
    """Where each run of so many lines begins but the first: behind each line feed whose number they divide."""
    cuts = np.empty(len(text) // lines, np.int64)
    feeds = kernel("lines_cut")(text, lines, cuts)
    found: list[int] = cuts[: feeds // lines].tolist()
    return found
