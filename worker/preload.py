"""What tasks need, imported before a pool is forked: its processes share it, and no first task waits for it."""

from __future__ import annotations

import gc
import os
from contextlib import suppress
from importlib import import_module

from metrics.errors import KernelsNotBuilt
from worker.context import WorkerContext

AHEAD = ("worker.handlers", "worker.runners", "metrics.entry_points", "numpy.ma", "encodings.utf_32_le")
"""Modules that tasks need; the last two are imported by a first `numpy.unique` and a first text in code points."""


def load_ahead(context: WorkerContext) -> None:
    """Import it.

    One thread each for linear algebra: the pool has as many processes as there are cores. Threads
    that a library had started would not survive the fork, so the limits come before the import.
    """
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    for module in AHEAD:
        import_module(module)
    loader = import_module("metrics.kernels.loader")
    # Where they are missing or old, tasks say so.
    with suppress(KernelsNotBuilt):
        loader.shared_library()
    # The database's driver comes with an engine; a connection does not.
    assert context.engine
    # The collector writes to all that it looks through, which would give each process a copy of its own.
    gc.freeze()
