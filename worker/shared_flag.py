"""A one-shot message from a pool process to its parent, for when the database cannot carry it."""

from __future__ import annotations

import mmap

_SIZE = 4096


class SharedFlag:
    """Memory shared with processes forked from this one; the creator reads the message that they set."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _SIZE)

    def set_once(self, message: str) -> None:
        """Set the message, unless one is set: the first problem causes the others."""
        if not self._memory[0]:
            encoded = message.encode()[: _SIZE - 1]
            # The first byte last: it marks the message as complete.
            self._memory[1 : len(encoded) + 1] = encoded
            self._memory[0] = 1

    @property
    def message(self) -> str | None:
        """The message, if any."""
        return self._memory[1:].rstrip(b"\0").decode(errors="replace") if self._memory[0] else None
