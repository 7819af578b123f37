"""How often each segment is drawn in each replicate: a frozen contract, see docs/reference/resampling.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import BadParameter, TooLarge
from steelyard.kernels.bindings import kernel
from steelyard.kernels.resampling.binomial import half_tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.uint8] | NDArray[np.uint16]

BLOCK = 256
"""Segments in a block; the last block of a test set may have fewer."""

LARGEST = 2**32 - 1
"""The most segments and draws."""


def resampling_counts(
    segments: int, seed: int, replicates: int, first: int, last: int, *, draws: int | None = None
) -> Counts:
    """How often each of the segments first..last is drawn in each replicate: (replicates, last - first).

    A pure function of the number of segments in the whole test set, the seed (0 to 2^64 - 1), the replicate
    and the segment: any range of whole blocks gives the columns that the full range has, and more replicates
    add rows. `first` is the beginning of a block, `last` is one too, or `segments`. `draws` is how many
    segments a replicate draws in all, as many as there are unless given. The counts are uint8, or uint16
    where one is above 255.

    Raises BadParameter for a seed or a range that is not as said, TooLarge for more than 2^32 - 1 segments or
    draws and where a count is above 65,535.

    Parameters
    ----------
    segments : int
    seed : int
    replicates : int
    first : int
    last : int
    draws : int or None, optional

    Returns
    -------
    ndarray of uint8 or ndarray of uint16
    """
    draws = segments if draws is None else draws
    if not 0 <= seed < 2**64:
        raise BadParameter(f"The seed of a bootstrap is {seed}, but must be from 0 to 2^64 - 1.")
    if replicates < 0 or draws < 0 or not 0 <= first <= last <= segments:
        raise BadParameter(
            f"Segments {first} to {last} of {segments}, {replicates} replicates of {draws} draws: "
            "the range must lie within the test set, and no number be below 0."
        )
    if first % BLOCK or (last % BLOCK and last != segments):
        raise BadParameter(
            f"Segments {first} to {last} of {segments} are not whole blocks. Cut at multiples of {BLOCK}."
        )
    if max(segments, draws) > LARGEST:
        raise TooLarge(f"Resampling goes up to {LARGEST} segments. Split this test set of {segments}.")
    tables = half_tables(draws.bit_length() - 1)
    for kind in (np.uint8, np.uint16):
        counts = np.empty((replicates, last - first), kind)
        if not counts.size:
            return counts
        blocks = first // BLOCK, -(-last // BLOCK)
        if not kernel("resampling_counts")(segments, draws, seed, *blocks, tables.bounds, tables.rows, counts):
            return counts
    raise TooLarge(f"{draws} draws from {segments} segments choose one of them more than 65,535 times.")
