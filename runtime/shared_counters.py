"""What the processes of a pool count, in memory that they share with their main process.

Each process writes a row of its own, so nobody waits for a lock, which one that is killed would take to its grave; what
it has counted stays. The process that takes its place goes on in the same row.
"""

from __future__ import annotations

import mmap
import os
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

DOUBLE = 8

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 60.0, 120.0)
"""The upper ends of the buckets of a histogram of times; the last one is open."""


@dataclass(frozen=True, slots=True)
class Counter:
    """Something that is counted, by the values of a label or as a whole."""

    name: str
    """As Prometheus has it, without `_total`."""
    text: str
    label: str = ""
    values: tuple[str, ...] = ("",)


@dataclass(frozen=True, slots=True)
class Histogram:
    """Times, counted by how long they are."""

    name: str
    text: str
    ends: tuple[float, ...] = SECONDS


class Tally:
    """Counters and histograms; `writers` pool processes and one other write at once."""

    def __init__(self, kept: Sequence[Counter | Histogram], writers: int = 0) -> None:
        self.kept = tuple(kept)
        self._histograms = {each.name: each for each in kept if isinstance(each, Histogram)}
        self._places: dict[tuple[str, str], int] = {}
        # The first place of a row is for the id of its process.
        width = 1
        for each in kept:
            if isinstance(each, Counter):
                for value in each.values:
                    self._places[each.name, value] = width
                    width += 1
            else:
                self._places[each.name, ""] = width
                # Its buckets, the open one, and the sum.
                width += len(each.ends) + 2
        self._width, self._rows = width, writers + 1
        self._row = self._rows - 1
        """Where this very process writes."""
        self._numbers = memoryview(mmap.mmap(-1, DOUBLE * width * self._rows)).cast("d")

    def count(self, name: str, label: str = "", amount: float = 1.0) -> None:
        """Count something."""
        self._add(self._places[name, label], amount)

    def observe(self, name: str, seconds: float) -> None:
        """Put a time into its bucket."""
        ends = self._histograms[name].ends
        place = self._places[name, ""]
        self._add(place + bisect_left(ends, seconds), 1.0)
        self._add(place + len(ends) + 1, seconds)

    def begin(self, number: int) -> None:
        """Write from now on in the row of a pool process; one that replaces another has its number."""
        self._row = min(number, self._rows - 1)
        self._numbers[self._row * self._width] = os.getpid()

    def total(self, name: str, label: str = "") -> float:
        """What all have counted."""
        return self._sum(self._places[name, label])

    def buckets(self, name: str) -> tuple[list[float], float]:
        """How many times all have seen up to each end and in the end, and the sum of these times."""
        place, amount = self._places[name, ""], len(self._histograms[name].ends) + 1
        counts = [self._sum(place + number) for number in range(amount)]
        return [*accumulate(counts)], self._sum(place + amount)

    def processes(self) -> dict[int, int]:
        """The pool processes that have begun: row -> process id. They may have ended meanwhile."""
        ids = {row: int(self._numbers[row * self._width]) for row in range(self._rows - 1)}
        return {row: pid for row, pid in ids.items() if pid}

    def _add(self, place: int, amount: float) -> None:
        self._numbers[self._row * self._width + place] += amount

    def _sum(self, place: int) -> float:
        return sum(self._numbers[row * self._width + place] for row in range(self._rows))
