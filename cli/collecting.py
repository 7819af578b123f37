"""The collector of cycles, for which a command of a second has little use."""

from __future__ import annotations

import atexit
import gc

THRESHOLD = 50_000
"""Objects made before cycles are looked for; Python's own 700 has it look 400 times while modules are imported."""


def collect_rarely() -> None:
    """Look for cycles less often, and not at the end.

    The interpreter would look through all that is alive several times while it ends: half a second with the database's
    library loaded. What is frozen it leaves out; whatever has an end of its own still comes to it.
    """
    gc.set_threshold(THRESHOLD, *gc.get_threshold()[1:])
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
