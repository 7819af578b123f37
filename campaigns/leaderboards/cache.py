"""What a process remembers of boards: what was used last, up to a number of bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any


class Memory:
    """Values by key, of which those that were not used for longest go first. Shared by all threads.

    Keys name content that never changes (an evaluation as it ended at a moment), so nothing in it is ever out of date.
    """

    def __init__(self, most_bytes: int, *, keeps_last: bool = False) -> None:
        self.most_bytes = most_bytes
        self.keeps_last = keeps_last
        """Whether what was put last stays, however large it is."""
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    @property
    def held_bytes(self) -> int:
        """How much is remembered now."""
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
        """Remember a value of so many bytes, instead of any other under this key. One that is too large is not kept."""
        with self._lock:
            before = self._values.pop(key, None)
            if before is not None:
                self._bytes -= before[1]
            if size > self.most_bytes and not self.keeps_last:
                return
            self._values[key] = value, size
            self._bytes += size
            while self._bytes > self.most_bytes and len(self._values) > self.keeps_last:
                _, (_, freed) = self._values.popitem(last=False)
                self._bytes -= freed
