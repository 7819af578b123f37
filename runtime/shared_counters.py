"""Counters of pool processes, in memory shared with their main process.

Each process writes to a row of its own, so there is no lock that a killed process could keep, and its counts remain.
The process that replaces it continues in the same row.
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
"""The upper bounds of a histogram's buckets, in seconds; above the last, there is one more bucket."""


@dataclass(frozen=True, slots=True)
class Counter:
    """The definition of a counter: one number, or one for each value of a label."""

    name: str
    """The name in Prometheus, without `_total`."""
    text: str
    label: str = ""
    values: tuple[str, ...] = ("",)


@dataclass(frozen=True, slots=True)
class Histogram:
    """The definition of a histogram of times."""

    name: str
    text: str
    ends: tuple[float, ...] = SECONDS


class SharedCounters:
    """Counters and histograms, written by `writers` pool processes and one other process at the same time."""

    def __init__(self, kept: Sequence[Counter | Histogram], writers: int = 0) -> None:
        self.kept = tuple(kept)
        self._histograms = {each.name: each for each in kept if isinstance(each, Histogram)}
        self._places: dict[tuple[str, str], int] = {}
        # A row begins with the id of its process.
        width = 1
        for each in kept:
            if isinstance(each, Counter):
                for value in each.values:
                    self._places[each.name, value] = width
                    width += 1
            else:
                self._places[each.name, ""] = width
                # The buckets, including the last, open one, and the sum.
                width += len(each.ends) + 2
        self._width, self._rows = width, writers + 1
        self._row = self._rows - 1
        """The row of this process."""
        self._numbers = memoryview(mmap.mmap(-1, DOUBLE * width * self._rows)).cast("d")

    def count(self, name: str, label: str = "", amount: float = 1.0) -> None:
        """Increase a counter."""
        self._add(self._places[name, label], amount)

    def observe(self, name: str, seconds: float) -> None:
        """Add a time to a histogram."""
        ends = self._histograms[name].ends
        place = self._places[name, ""]
        self._add(place + bisect_left(ends, seconds), 1.0)
        self._add(place + len(ends) + 1, seconds)

    def begin(self, number: int) -> None:
        """Write to the row of this pool process from now on; a process that replaces another has its number."""
        self._row = min(number, self._rows - 1)
        self._numbers[self._row * self._width] = os.getpid()

    def total(self, name: str, label: str = "") -> float:
        """The count of all processes."""
        return self._sum(self._places[name, label])

    def buckets(self, name: str) -> tuple[list[float], float]:
        """The cumulative counts up to each bound, then of all times, and the sum of the times."""
        place, amount = self._places[name, ""], len(self._histograms[name].ends) + 1
        counts = [self._sum(place + number) for number in range(amount)]
        return [*accumulate(counts)], self._sum(place + amount)

    def processes(self) -> dict[int, int]:
        """The pool processes that have begun, as row -> process id. They may have ended since."""
        ids = {row: int(self._numbers[row * self._width]) for row in range(self._rows - 1)}
        return {row: pid for row, pid in ids.items() if pid}

    def _add(self, place: int, amount: float) -> None:
        self._numbers[self._row * self._width + place] += amount

    def _sum(self, place: int) -> float:
        return sum(self._numbers[row * self._width + place] for row in range(self._rows))
