"""Texts in small letters, as `str.lower()` has them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import Status, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEW, ALL = 0x3000, 0x20000
"""Code points that are looked at: those of most scripts with small letters, made ten times sooner, and of all."""

SPECIAL = "\u03a3\u0130"
"""The sigma, whose small letter depends on its neighbours, and the dotted I, which becomes two characters."""


def lowercased(text: bytes) -> bytes:
    """What `text.decode().lower().encode()` gives, in an eighth of the time where no letter is special.

    `text` is UTF-8.

    Parameters
    ----------
    text : bytes

    Returns
    -------
    bytes
    """
    size = len(text)
    out = np.empty(size + size // 2 + 16, np.uint8)
    for limit in (FEW, ALL):
        length = kernel("lowercase")(text, lowercase_table(limit), out)
        if length != Status.BEYOND_TABLE:
            break
    return text.decode().lower().encode() if length < 0 else out[:length].tobytes()


@cache
def lowercase_table(limit: int) -> NDArray[np.uint32]:
    """Of each code point below `limit` the small one; 0 for special ones and for what is no character.

    Parameters
    ----------
    limit : int
    """
    codes = np.arange(limit, dtype="<u4")
    codes[[ord(letter) for letter in SPECIAL]] = 0
    codes[0xD800:0xE000] = 0
    return np.frombuffer(codes.tobytes().decode("utf-32-le").lower().encode("utf-32-le"), "<u4").astype(np.uint32)
