"""A moment that the processes of a pool share."""

from __future__ import annotations

import mmap

_SIZE = 8


class SharedMoment:
    """A time in memory shared with processes forked from this one: the last that any of them has set."""

    def __init__(self) -> None:
        self._memory = memoryview(mmap.mmap(-1, _SIZE)).cast("d")

    @property
    def seconds(self) -> float:
        """By `time.monotonic`, which is the same for all processes; 0 at first."""
        return self._memory[0]

    @seconds.setter
    def seconds(self, moment: float) -> None:
        self._memory[0] = moment
