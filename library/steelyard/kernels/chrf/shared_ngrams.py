"""The n-grams of characters and of words that translations share with their references."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import BadText
from steelyard.kernels.bindings import kernel
from steelyard.kernels.text.words import words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words

LARGEST_ORDER = 64


@dataclass(frozen=True, eq=False)
class SharedNgrams:
    """Rows are those of `Segments`: references, then systems, each with all segments."""

    lengths: NDArray[np.int64]
    """Characters or words of each row."""
    shared: NDArray[np.uint32]
    """(references, systems, segments, orders): n-grams of order 1, 2, ... common to both, each as often as both have
    it. Anything where the segment lacks the reference."""


def character_ngrams(
    text: bytes, present: NDArray[np.uint8], systems: int, orders: int, *, white_space: bool = False
) -> SharedNgrams:
    r"""Of lines joined by "\n"; what `str.split()` takes for white space is left out unless `white_space` says so.

    `present` is (references, segments). Raises MemoryError, and BadText where the bytes are not as many lines of UTF-8.

    Parameters
    ----------
    text : bytes
    present : ndarray of uint8
    systems : int
    orders : int
    white_space : bool, optional

    Returns
    -------
    SharedNgrams
    """
    found = _room(present, systems, orders)
    if kernel("character_ngrams")(text, present, systems, orders, white_space, found.lengths, found.shared):
        rows = len(found.lengths)
        raise BadText(f"The text is not {rows} lines of UTF-8. Texts read by steelyard.formats.plain always are.")
    return found


def word_ngrams(tokens: Words, present: NDArray[np.uint8], systems: int, orders: int) -> SharedNgrams:
    """Of words from which one ASCII punctuation mark is cut: from the end if there is one, else from the beginning.

    `tokens` are what white space separates, `present` is (references, segments). Raises MemoryError.

    Parameters
    ----------
    tokens : Words
    present : ndarray of uint8
    systems : int
    orders : int

    Returns
    -------
    SharedNgrams
    """
    found = _room(present, systems, orders)
    pieces = _pieces(tokens)
    texts = tokens.ids, tokens.starts, pieces.ids, pieces.starts
    kernel("word_ngrams")(*texts, present, pieces.types, systems, orders, found.lengths, found.shared)
    return found


def _pieces(tokens: Words) -> Words:
    """One or two words for each type: some ten times less work than to cut each token."""
    cut = np.empty(2 * len(tokens.lines), np.uint8)
    size = kernel("cut_marks")(tokens.lines, cut)
    # The last line feed ends a line; between lines there is one less. No types are no lines.
    return words(cut[: max(size - 1, 0)].tobytes(), max(tokens.types, 1))


def _room(present: NDArray[np.uint8], systems: int, orders: int) -> SharedNgrams:
    references, segments = present.shape
    lengths = np.empty((references + systems) * segments, np.int64)
    return SharedNgrams(lengths, np.empty((references, systems, segments, orders), np.uint32))
