"""Tables of n-grams as other releases write them, and as dictionaries."""

import struct

import numpy as np

from steelyard.metrics.ngram.ngram_table import NgramTable


def wide_bytes(table: NgramTable) -> bytes:
    """As the first release wrote it."""
    header = struct.pack("<4sHHQQQ", b"NGRM", 1, table.deepest, table.types, len(table.lines), len(table.words))
    return b"".join((header, table.lines, *(np.asarray(each, "<u4").tobytes() for each in table.stored())))


def ngrams(blob: bytes) -> dict[tuple[str, ...], int]:
    """Every n-gram of a table with its count, in the table's order by levels."""
    table = NgramTable.from_bytes(blob)
    types = table.lines.decode().split("\n")[:-1]
    grams: list[tuple[str, ...]] = [()]
    children = [table.types, *table.children.tolist()]
    for node, word in enumerate(table.words.tolist()):
        parent = next(place for place, left in enumerate(children) if left)
        children[parent] -= 1
        grams.append((*grams[parent], types[word]))
        assert len(grams) == node + 2
    return dict(zip(grams[1:], table.counts.tolist(), strict=True))
