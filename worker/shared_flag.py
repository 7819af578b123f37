"""A word from a pool process to the process that it was forked from, when the database cannot carry it."""

from __future__ import annotations

import mmap

_SIZE = 4096


class Alarm:
    """Memory that a process shares with those that are forked from it; whoever makes it hears what they say."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _SIZE)

    def raise_once(self, message: str) -> None:
        """Say something, unless somebody has: the first trouble is the cause of the others."""
        if not self._memory[0]:
            encoded = message.encode()[: _SIZE - 1]
            # The first byte last: it says that the others are there.
            self._memory[1 : len(encoded) + 1] = encoded
            self._memory[0] = 1

    @property
    def heard(self) -> str | None:
        """What was said, if anything."""
        return self._memory[1:].rstrip(b"\0").decode(errors="replace") if self._memory[0] else None
