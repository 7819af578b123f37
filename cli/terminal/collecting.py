"""The collector of cycles, for which a command of a second has little use."""

from __future__ import annotations

import atexit
import gc

LONG_LIVED = {"worker", "scheduler", "serve", "up"}
"""Verbs that run for days: for them cycles are looked for as often as Python does it."""
THRESHOLD = 400_000
"""Objects made, less those dropped, before cycles are looked for: more than there are once everything is imported."""


def collect_rarely(verb: str) -> None:
    """Look for cycles less often in a command that is short, and at the end in none.

    The interpreter would look through all that is alive several times while it ends: half a second with the database's
    library loaded. What is frozen it leaves out; whatever has an end of its own still comes to it.
    """
    if verb not in LONG_LIVED:
        gc.set_threshold(THRESHOLD, *gc.get_threshold()[1:])
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
