"""Tokens as numbers: texts cut and interned in one pass over their bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import BadText
from steelyard.kernels.bindings import kernel
from steelyard.kernels.characters.lowercase import lowercased

if TYPE_CHECKING:
    from numpy.typing import NDArray


LINE_FEED = b"\n"


@dataclass(frozen=True, eq=False)
class Words:
    """The tokens of all rows.

    Row r holds `ids[starts[r]:starts[r + 1]]`; equal ids mean equal tokens.
    """

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    types: int
    """How many distinct tokens there are; ids are below it."""
    lines: bytes
    """The distinct tokens in the order of their ids, each ended by a newline."""

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens in each row."""
        return np.diff(self.starts)

    def lines_to(self, types: int) -> bytes:
        """The first so many distinct tokens, each ended by a newline.

        Parameters
        ----------
        types : int

        Returns
        -------
        bytes
        """
        if types == self.types:
            return self.lines
        ends = np.flatnonzero(np.frombuffer(self.lines, np.uint8) == ord("\n"))
        return self.lines[: ends[types - 1] + 1] if types else b""


def words(text: bytes, rows: int, *, mteval_13a: bool = False) -> Words:
    r"""The tokens of `rows` lines joined by "\n": what white space separates.

    With `mteval_13a` punctuation is cut off as well, by the rules of mteval-v13a.
    Raises BadText where the number of lines is not `rows`; MemoryError.

    Parameters
    ----------
    text : bytes
    rows : int
    mteval_13a : bool, optional

    Returns
    -------
    Words
    """
    size = len(text)
    ids = np.empty(size + 1, np.int32)
    starts = np.empty(rows + 1, np.int64)
    lines = np.empty(2 * size + 1, np.uint8)
    used = np.zeros(1, np.int64)
    types = kernel("words")(text, rows, mteval_13a, ids, starts, lines, used)
    if types < 0:
        raise BadText(f"The text has {text.count(LINE_FEED) + 1} lines, but must have {rows}.")
    # The room that was set aside is many times what most texts need: the rest goes back, without a copy.
    ids.resize(int(starts[-1]), refcheck=False)
    return Words(ids, starts, types, lines[: used[0]].tobytes())


def lowercased_words(mixed: Words) -> Words:
    """The same tokens in small letters, found by lowercasing each distinct token once.

    Parameters
    ----------
    mixed : Words

    Returns
    -------
    Words
    """
    if not mixed.types:
        return mixed
    alike = words(lowercased(mixed.lines[:-1]), mixed.types)
    return Words(alike.ids[mixed.ids], mixed.starts, alike.types, alike.lines)
