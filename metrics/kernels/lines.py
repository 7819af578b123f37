"""Where the lines of a text begin, and how many there are."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from metrics.kernels.loader import INTEGER, POINTER, address, kernel


def line_count(text: bytes) -> int:
    r"""Lines joined by "\n": one more than there are line feeds."""
    return int(_function()(text, len(text), len(text) + 1, None)) + 1


def line_cuts(text: bytes, lines: int) -> list[int]:
    """Where each run of so many lines begins but the first: behind each line feed whose number they divide."""
    cuts = np.empty(len(text) // lines, np.int64)
    feeds = _function()(text, len(text), lines, address(cuts))
    found: list[int] = cuts[: feeds // lines].tolist()
    return found


@cache
def _function() -> Any:
    return kernel("lines_cut", POINTER, INTEGER, INTEGER, POINTER)
