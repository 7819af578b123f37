"""Settings of the garbage collector for short commands."""

from __future__ import annotations

import atexit
import gc

LONG_LIVED = {"worker", "scheduler", "serve", "up"}
"""Verbs that run for days: they keep Python's default thresholds."""
THRESHOLD = 400_000
"""Allocations minus deallocations before a collection: more than the imports of any command cause."""


def collect_rarely(verb: str) -> None:
    """Collect cycles less often in a short command, and not at all at exit.

    The interpreter would traverse all live objects several times while it exits: half a second with SQLAlchemy loaded.
    Frozen objects are skipped; finalizers still run.
    """
    if verb not in LONG_LIVED:
        gc.set_threshold(THRESHOLD, *gc.get_threshold()[1:])
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
