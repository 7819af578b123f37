"""A least-recently-used cache for leaderboards, limited in bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any


class LeaderboardCache:
    """A least-recently-used cache, shared by all threads.

    Keys name content that never changes (an evaluation as it ended at a certain time), so no value becomes outdated.
    """

    def __init__(self, max_packed_bytes: int, *, keeps_last: bool = False) -> None:
        self.max_packed_bytes = max_packed_bytes
        self.keeps_last = keeps_last
        """Whether the last value stays, however large it is."""
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    @property
    def held_bytes(self) -> int:
        """The size of all values."""
        return self._bytes

    def get(self, key: Hashable) -> Any | None:
        """The value, or None."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, key: Hashable, value: Any, size: int) -> None:
        """Store a value of so many bytes, replacing any other under this key. A value that is too large is not kept."""
        with self._lock:
            before = self._values.pop(key, None)
            if before is not None:
                self._bytes -= before[1]
            if size > self.max_packed_bytes and not self.keeps_last:
                return
            self._values[key] = value, size
            self._bytes += size
            while self._bytes > self.max_packed_bytes and len(self._values) > self.keeps_last:
                _, (_, freed) = self._values.popitem(last=False)
                self._bytes -= freed
