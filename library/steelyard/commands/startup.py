"""What every command sets before it does anything."""

from __future__ import annotations

import atexit
import gc
import os

THRESHOLD = 400_000
"""Allocations minus deallocations before a collection: more than the imports of any command cause."""


def compute_in_one_thread() -> None:
    """Use one thread for linear algebra: processes do the parallel work, and idle threads would only spin.

    Call it before anything imports NumPy, which starts the threads at import.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def import_nothing_from_the_current_folder() -> None:
    """Keep the current folder off the import path of every Python that this process starts.

    A command's own path begins with the folder of the program. The processes that `multiprocessing` spawns run
    `python -c`, whose path begins with the current folder: a `threading.py` there would run with the rights of the
    user, perhaps root.
    """
    os.environ["PYTHONSAFEPATH"] = "1"


def collect_rarely() -> None:
    """Collect cycles less often in a short command, and not at all at exit.

    The interpreter would traverse all live objects several times while it exits: half a second with SQLAlchemy loaded.
    Frozen objects are skipped; finalizers still run.
    """
    gc.set_threshold(THRESHOLD, *gc.get_threshold()[1:])
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
