"""A limit on streams of events: each holds a connection for minutes."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from campaigns.errors import TooMany

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_STREAM_SECONDS = 600.0
"""After this time the client reconnects."""
TICK_SECONDS = 0.25
"""How soon a stream notices that the server stops."""
RETRY_SECONDS = 10.0


@dataclass
class EventStreams:
    """The open streams. One for each app, shared by all its threads."""

    most: int
    most_each: int
    """Of one account, or of one network without an account."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _open: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def counted(self, owner: str) -> Iterator[None]:
        """Count a stream while the context is open.

        Raises
        ------
        TooMany
            If a limit is reached.
        """
        with self._lock:
            if self._open.total() >= self.most:
                raise TooMany("Too many clients are watching.", retry_seconds=RETRY_SECONDS)
            if self._open[owner] >= self.most_each:
                raise TooMany(
                    f"You are already watching {self._open[owner]} pages or submissions. Close some of them.",
                    retry_seconds=RETRY_SECONDS,
                )
            self._open[owner] += 1
        try:
            yield
        finally:
            with self._lock:
                self._open[owner] -= 1
                if not self._open[owner]:
                    del self._open[owner]
