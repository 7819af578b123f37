"""A request to stop, which a signal handler may make."""

from __future__ import annotations

import os
import select
import weakref
from contextlib import suppress


class StopRequest:
    """Made by a signal handler, and waited for like an event.

    A `threading.Event` is set under a lock. The handler runs in the main thread, which may hold that lock because it is
    just about to wait: then it would wait for itself for ever.
    """

    def __init__(self) -> None:
        self._made = False
        self._reader, self._writer = os.pipe()
        # Whatever is written first stays there: the pipe is only looked at.
        os.set_blocking(self._writer, False)
        for end in (self._reader, self._writer):
            weakref.finalize(self, os.close, end)

    def set(self) -> None:
        """Make the request."""
        self._made = True
        with suppress(BlockingIOError):
            os.write(self._writer, b".")

    def is_set(self) -> bool:
        """Whether it was made."""
        return self._made

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for it, for up to this many seconds; whether it was made."""
        # Made for each call: an object that polls is for one thread at a time.
        poll = select.poll()
        poll.register(self._reader, select.POLLIN)
        poll.poll(None if seconds is None else max(0.0, 1000 * seconds))
        return self._made
