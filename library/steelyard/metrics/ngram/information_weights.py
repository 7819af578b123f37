"""What each n-gram of the references says: the weights of NIST."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import BadState
from steelyard.kernels.nist.ngram_counts import ngram_counts
from steelyard.kernels.nist.ngram_weights import ngram_weights
from steelyard.metrics.corpus_statistics import CorpusStatistics
from steelyard.metrics.ngram.ngram_table import NgramTable, check_total, counted, merged

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words
    from steelyard.metrics.segments import Segments

    Numbers = NDArray[np.uint32]


BYTES_OF_NUMBER = 150
"""Memory of a word as a key of a dictionary, beside its letters."""


@dataclass(frozen=True, eq=False)
class Information:
    """The information of n-grams in bits, as a trie whose first nodes are the words. What is not in it says nothing."""

    lines: bytes
    """The words, each ended by a newline."""
    types: int
    """How many words there are."""
    first_child: NDArray[np.int64]
    """Node k has the children first_child[k] to first_child[k + 1], by ascending last word."""
    words: NDArray[np.int32]
    bits: NDArray[np.float64]

    @property
    def trie(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """What the kernel reads: first children, last words and information."""
        return self.first_child, self.words, self.bits

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        arrays = self.first_child.nbytes + self.words.nbytes + self.bits.nbytes
        return 2 * len(self.lines) + BYTES_OF_NUMBER * self.types + arrays

    def known(self, words: Words, rows: int) -> NDArray[np.int32]:
        """The numbers that words have here.

        Parameters
        ----------
        words : Words
        rows : int
            The first rows, those of references.

        Returns
        -------
        (types,) int32
            Without words that no reference has.

        Raises
        ------
        BadState
            Where a word is not known here.
        """
        # Types are numbered as they are met, so those of the references come first.
        wanted = int(words.ids[: words.starts[rows]].max(initial=-1)) + 1
        if not wanted:
            return np.zeros(0, np.int32)
        lines = words.lines_to(wanted)
        if self.lines.startswith(lines):
            return np.arange(wanted, dtype=np.int32)
        numbers = self._numbers
        found = np.array([numbers.get(word, -1) for word in lines.split(b"\n")[:-1]], np.int32)
        if (found < 0).any():
            raise BadState("The n-gram counts are those of other references. Prepare these references.")
        return found

    @cached_property
    def _numbers(self) -> dict[bytes, int]:
        return {word: number for number, word in enumerate(self.lines.split(b"\n")[:-1])}


@dataclass(frozen=True)
class NgramInformation(CorpusStatistics):
    """Counts of all n-grams of the references, of which only those are kept that say something.

    The information of an n-gram is log2 of how often its words but the last occur together, divided by how often it
    occurs itself; for a single word the number of all words takes the place of the former.
    """

    deepest: int
    tok: str
    case: str

    cost = 1.5

    @property
    def key(self) -> str:
        """What the counts depend on beside the references."""
        return f"ngram-information:order<={self.deepest}:tok={self.tok}:case={self.case}"

    def count(self, segments: Segments) -> bytes:
        """The n-grams of a part of the references. Raises TooLarge."""
        rows = len(segments.references) * len(segments)
        return counted(segments.words(self.tok, self.case), rows, self.deepest).to_bytes()

    def merge(self, parts: Iterable[bytes]) -> bytes:
        """The n-grams of all references, without those that say nothing and lead to none that does."""
        return merged(parts).to_bytes()

    def read(self, state: bytes) -> Information:
        """The information of each n-gram. Raises BadState."""
        table = NgramTable.from_bytes(state)
        return _weighed(table.lines, table.children, table.words, table.counts, table.total)

    def state_of(self, segments: Segments) -> Information:
        """The same of the references alone, as words are numbered there; some that says nothing is in it, too.

        Raises TooLarge.
        """
        words = segments.words(self.tok, self.case)
        starts = words.starts[: len(segments.references) * len(segments) + 1]
        ids = words.ids[: starts[-1]]
        check_total(len(ids))
        lines = words.lines_to(int(ids.max(initial=-1)) + 1)
        numbers = ngram_counts(ids, starts, lines.count(b"\n"), self.deepest, repeated=True)
        return _weighed(lines, *numbers, len(ids))


def _weighed(lines: bytes, children: Numbers, words: Numbers, counts: Numbers, total: int) -> Information:
    """A table with the information of its n-grams."""
    types = lines.count(b"\n")
    first_child, bits = ngram_weights(children, counts, types, total)
    return Information(lines, types, first_child, words.view(np.int32), bits)
