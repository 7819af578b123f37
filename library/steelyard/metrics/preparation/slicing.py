"""How many segments metrics work on at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SLICE_ROWS = 1 << 12
"""Segments times texts that are worked on at once: fewer cost more calls, more do not fit in a cache."""

SMALLEST_SLICE = 64
"""Segments that are worked on at once at least, however many texts there are, unless they are long."""

SLICE_BYTES = 1 << 23
"""Bytes of all texts: of very long segments one is worked on at a time, so that Ctrl-C is heard after each."""


def slice_count(texts: Sequence[bytes], segments: int) -> int:
    """In how many runs texts are worked on.

    Parameters
    ----------
    texts : list of bytes
        At least one, of as many segments each.
    segments : int

    Returns
    -------
    int
    """
    by_rows = -(-segments // max(SLICE_ROWS // len(texts), SMALLEST_SLICE))
    by_bytes = -(-sum(map(len, texts)) // SLICE_BYTES)
    return max(by_rows, min(by_bytes, segments))
