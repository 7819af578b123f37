"""Counts of draws as bits, in which sums of what is drawn are made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from steelyard.kernels.bindings import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.uint8] | NDArray[np.uint16]

RUN = 64
"""Segments whose bits share a word."""


@dataclass(frozen=True, eq=False)
class DrawBits:
    """How often each of some segments is drawn in each row, which is a replicate or a trial; draw_bits.h says how.

    bits: uint64 (runs, rows, planes), zero beyond the last segment; ends: int64 (1 + runs * rows,), or None where no
    count is above 3; entries: uint16.
    """

    segments: int
    bits: NDArray[np.uint64]
    ends: NDArray[np.int64] | None = None
    entries: NDArray[np.uint16] | None = None

    @property
    def rows(self) -> int:
        """Replicates or trials."""
        return int(self.bits.shape[1])

    @property
    def size(self) -> int:
        """Bytes."""
        more = (each.nbytes for each in (self.ends, self.entries) if each is not None)
        return int(self.bits.nbytes + sum(more))

    def part(self, first: int, last: int) -> DrawBits:
        """Those of the segments first..last: multiples of 64, but for a last one that is the end."""
        runs = slice(first // RUN, -(-last // RUN))
        ends = None if self.ends is None else self.ends[runs.start * self.rows : runs.stop * self.rows + 1]
        return DrawBits(last - first, self.bits[runs], ends, self.entries)

    @cached_property
    def draws(self) -> NDArray[np.int64]:
        """How many segments each row draws in all, (rows,)."""
        counts = np.empty(self.rows, np.int64)
        kernel("count_draws")(self.bits, self.ends, self.entries, counts)
        return counts


def draw_bits(counts: Counts) -> DrawBits:
    """The bits of counts (rows, segments), uint8 or uint16. Raises BadArray."""
    rows, segments = counts.shape
    given = np.ascontiguousarray(counts)
    runs = -(-segments // RUN)
    bits = np.empty((runs, rows, 2), np.uint64)
    ends = np.empty(runs * rows + 1, np.int64)
    count = kernel("draw_bits")(given, bits, ends)
    if not count:
        return DrawBits(segments, bits)
    entries = np.empty(count, np.uint16)
    kernel("draw_entries")(given, ends, entries)
    return DrawBits(segments, bits, ends, entries)
