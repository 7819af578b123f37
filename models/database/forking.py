"""No fork in the middle of a write to SQLite.

SQLite remembers in memory which locks its process holds. A process that is forked meanwhile would inherit that memory,
but not the lock: it would take the database for locked as long as it lives.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_gate = threading.RLock()


@contextmanager
def unforked() -> Iterator[None]:
    """A context in which no other thread of this process can fork."""
    with _gate:
        yield


os.register_at_fork(before=_gate.acquire, after_in_parent=_gate.release, after_in_child=_gate.release)
