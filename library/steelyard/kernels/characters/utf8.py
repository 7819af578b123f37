"""What a text is like, found in one look at each byte."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steelyard.kernels.bindings import kernel


class Utf8(NamedTuple):
    """What `validate_utf8` found."""

    is_utf8: bool
    """Whether Python's strict decoder would take it: no surrogates, no overlong forms, nothing cut off at the end."""
    line_feeds: int
    longest: int
    """Bytes that no line exceeds, its line end counted; less than 200 more than the longest has."""


def validate_utf8(text: bytes) -> Utf8:
    """What a text is like: as fast as the memory is, several times faster than decoding.

    Parameters
    ----------
    text : bytes

    Returns
    -------
    Utf8
    """
    found = np.empty(2, np.int64)
    is_utf8 = kernel("validate_utf8")(text, found)
    return Utf8(bool(is_utf8), *found.tolist())
