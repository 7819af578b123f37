"""Whether a text is in Unicode's NFC, where a letter and its accent are one character."""

from __future__ import annotations

import unicodedata

from steelyard.kernels.bindings import kernel


def is_nfc(text: bytes) -> bool:
    """Whether a text in UTF-8 is in NFC; where all its letters are common ones, without decoding it.

    Parameters
    ----------
    text : bytes

    Returns
    -------
    bool
    """
    return bool(kernel("nfc_surely")(text)) or unicodedata.is_normalized("NFC", text.decode())
