"""Blocks: runs of 256 consecutive segments, fixed for ever by position, the atoms that shards are made of."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BLOCK = 256
"""Segments in a block; the last block of a test set may have fewer."""


def block_count(segments: int) -> int:
    """How many blocks so many segments make."""
    return -(-segments // BLOCK)


def split_blocks(texts: Sequence[bytes], blocks: int = 1) -> Iterator[list[bytes]]:
    r"""The same run of `blocks` blocks of every text, run after run; 0 blocks: everything in one run.

    Texts are lines joined by "\n" without a final one, all with the same number of lines; so are the runs.
    """
    if not blocks:
        yield list(texts)
        return
    cuts = [_cuts(text, blocks * BLOCK) for text in texts]
    for run in range(len(cuts[0]) - 1):
        yield [text[cut[run] : cut[run + 1] - 1] for text, cut in zip(texts, cuts, strict=True)]


def cut_lines(text: bytes, segments: int) -> list[bytes]:
    """Lines, each with its line end, in runs of so many; the last run has fewer, or none."""
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    cuts = [0, *(ends[segments - 1 :: segments] + 1).tolist(), len(text)]
    return [text[begin:end] for begin, end in pairwise(cuts)]


def _cuts(text: bytes, segments: int) -> list[int]:
    """Where every run of so many lines begins, and one behind the end."""
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    starts = (ends[segments - 1 :: segments] + 1).tolist()
    return [0, *starts, len(text) + 1]
