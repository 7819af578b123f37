"""What each n-gram of the references says: the weights of NIST."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from metrics import portable
from metrics.errors import BadState
from metrics.kernels.words import words as numbered
from metrics.ngram_table import NgramTable, added, counted
from metrics.preparation import Preparation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from metrics.batch import Batch
    from metrics.kernels.words import Words


@dataclass(frozen=True, eq=False)
class Information:
    """The information of n-grams in bits, as a trie whose first nodes are the words. What is not in it says nothing."""

    lines: bytes
    """The words, each ended by a newline."""
    first_child: NDArray[np.int64]
    """Node k has the children first_child[k] to first_child[k + 1], by ascending last word."""
    words: NDArray[np.int32]
    bits: NDArray[np.float64]

    def known(self, words: Words, rows: int) -> NDArray[np.int32]:
        """The number that each word of the first `rows` rows of a batch, its references, has here.

        (types,), without those that no reference has. Raises BadState where a word is not known here.
        """
        types = self.lines.count(b"\n")
        # Types are numbered as they are met, so those of the references come first.
        wanted = int(words.ids[: words.starts[rows]].max(initial=-1)) + 1
        theirs = words.lines.split(b"\n", wanted)[:wanted]
        # Interned behind the words known here, one of them gets its number from here.
        text = self.lines + b"\n".join(theirs)
        found = numbered(text, types + wanted).ids[types:] if wanted else np.zeros(0, np.int32)
        if (found >= types).any():
            raise BadState("The n-gram counts are those of other references. Prepare these references.")
        return found


@dataclass(frozen=True)
class NgramInformation(Preparation):
    """Counts of all n-grams of the references, of which only those are kept that say something.

    The information of an n-gram is log2 of how often its words but the last occur together, divided by how often it
    occurs itself; for a single word the number of all words takes the place of the former.
    """

    deepest: int
    tok: str
    case: str

    cost = 1.0

    @property
    def key(self) -> str:
        """What the counts depend on beside the references."""
        return f"ngram-information:order<={self.deepest}:tok={self.tok}:case={self.case}"

    def count(self, batch: Batch) -> bytes:
        """The n-grams of a part of the references."""
        rows = len(batch.references) * batch.segments
        return counted(batch.words(self.tok, self.case), rows, self.deepest).to_bytes()

    def merge(self, parts: Sequence[bytes]) -> bytes:
        """The n-grams of all references, without those that say nothing and lead to none that does."""
        return informative(added([NgramTable.from_bytes(part) for part in parts])).to_bytes()

    def read(self, state: bytes) -> Information:
        """The information of each n-gram. Raises BadState."""
        table = NgramTable.from_bytes(state)
        contexts = [np.full(len(table.types), table.counts[: len(table.types)].sum())]
        contexts += [table.counts[level][table.parents(level)] for level in table.levels[:-1]]
        first_child = np.concatenate(([0], np.cumsum(table.children, dtype=np.int64))) + len(table.types)
        return Information(
            b"".join(each + b"\n" for each in table.types),
            first_child,
            table.words.astype(np.int32),
            portable.log2(np.concatenate(contexts) / table.counts),
        )


def informative(table: NgramTable) -> NgramTable:
    """The words, and of longer n-grams those that do not always follow their context, with all that leads to them."""
    levels = table.levels
    keep = np.ones(len(table.words), bool)
    children = np.zeros(len(table.words), np.int64)
    for level in reversed(range(1, table.deepest)):
        above, here = levels[level - 1], levels[level]
        parents = table.parents(above)
        keep[here] = (table.counts[here] < table.counts[above][parents]) | (children[here] > 0)
        children[above] = np.bincount(parents[keep[here]], minlength=above.stop - above.start)
    return NgramTable(table.deepest, table.types, children[keep], table.words[keep], table.counts[keep])
