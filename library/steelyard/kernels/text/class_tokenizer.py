"""Blanks put in where a tokenizer cuts a text, by the kinds of its characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

CODE_POINTS = 0x110000

OTHER, NUMBER, MARK, ALONE, DASH, BLANK = range(6)
"""Kinds of characters. MARK is cut off unless it touches a number, as a decimal point does; ALONE is always
cut off, DASH directly behind a number; BLANK is white space. A mark may touch the edge of a line as it may a number."""

LEFT_TRIMMED, LOOKING_AHEAD = 1, 2
"""Rules. LEFT_TRIMMED: white space at the start of a line is taken away (that at its end always is).
LOOKING_AHEAD: a mark is cut off unless a number follows; white space between two numbers is taken away."""


def tokenize_by_class(text: bytes, kinds: NDArray[np.uint8], rules: int = 0) -> bytes:
    """The lines of `text` with blanks at the cuts.

    `kinds` gives the kind of each of the 1,114,112 code points, `rules` is a sum of rules.

    Parameters
    ----------
    text : bytes
    kinds : ndarray of uint8
    rules : int, optional

    Returns
    -------
    bytes
    """
    out = np.empty(3 * len(text) + 2, np.uint8)
    length = kernel("tokenize_by_class")(text, kinds, rules, out)
    return out[:length].tobytes()
