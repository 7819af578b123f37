"""Blocks: runs of 256 consecutive segments, fixed for ever by position, the atoms that shards are made of."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.resampling.resampling import BLOCK as BLOCK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def block_count(segments: int) -> int:
    """How many blocks so many segments make.

    Parameters
    ----------
    segments : int

    Returns
    -------
    int
    """
    return -(-segments // BLOCK)


def split_blocks(texts: Sequence[bytes], blocks: int = 1) -> Iterator[list[bytes]]:
    r"""The same run of `blocks` blocks of every text, run after run; 0 blocks: everything in one run.

    Texts are lines joined by "\n" without a final one, all with the same number of lines; so are the runs.

    Parameters
    ----------
    texts : sequence of bytes
    blocks : int, optional
    """
    if not blocks:
        yield list(texts)
        return
    yield from split_lines(texts, blocks * BLOCK)


def split_lines(texts: Sequence[bytes], segments: int) -> Iterator[list[bytes]]:
    """As `split_blocks`, in runs of so many segments.

    Parameters
    ----------
    texts : sequence of bytes
    segments : int
    """
    cuts = [(0, *line_cuts(text, segments), len(text) + 1) for text in texts]
    for run in range(len(cuts[0]) - 1):
        yield [text[cut[run] : cut[run + 1] - 1] for text, cut in zip(texts, cuts, strict=True)]


def cut_lines(text: bytes, segments: int) -> list[bytes]:
    """Lines, each with its line end, in runs of so many; the last run has fewer, or none.

    Parameters
    ----------
    text : bytes
    segments : int

    Returns
    -------
    list of bytes
    """
    cuts = (0, *line_cuts(text, segments), len(text))
    return [text[begin:end] for begin, end in pairwise(cuts)]


def line_cuts(text: bytes, lines: int) -> list[int]:
    """Where each run of so many lines begins but the first: behind each line feed whose number they divide.

    Parameters
    ----------
    text : bytes
    lines : int

    Returns
    -------
    list of int
    """
    feeds = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    found: list[int] = (feeds[lines - 1 :: lines] + 1).tolist()
    return found
