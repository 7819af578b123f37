"""Prevents forks during writes to SQLite.

SQLite tracks the locks of its process in memory. A process forked during a write would inherit that memory but not the
lock, and would treat the database as locked for the rest of its life.
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
