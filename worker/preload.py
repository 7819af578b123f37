"""Imports what tasks need before a pool is forked: processes share the memory, and first tasks start fast."""

from __future__ import annotations

import gc
import os
from contextlib import suppress
from importlib import import_module

from steelyard.errors import KernelsNotBuilt
from steelyard.metrics.registry import all_metrics
from worker.context import WorkerContext

AHEAD = ("worker.handlers", "worker.runners", "steelyard.metrics.entry_points", "encodings.utf_32_le")
"""Modules that tasks need; the last one is imported lazily, by code-point texts."""
AHEAD_OF_ANY = ("numpy.ma",)
"""What some tasks need: `numpy.unique` imports it lazily."""


def preload(context: WorkerContext, *, every_metric: bool = True) -> None:
    """Import the modules, and those of `every_metric`: a process that soon ends needs only what it was asked for.

    One thread each for linear algebra: the pool has as many processes as there are cores. Threads started by a library
    would not survive the fork, so the limits are set before the import.
    """
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    for module in (*AHEAD, *AHEAD_OF_ANY) if every_metric else AHEAD:
        import_module(module)
    if every_metric:
        all_metrics()
    loader = import_module("steelyard.kernels.loader")
    # If they are missing or outdated, tasks report it.
    with suppress(KernelsNotBuilt):
        loader.shared_library()
    # Creating an engine loads the database's driver, but opens no connection.
    assert context.engine
    # Garbage collection writes to every object that it visits, which would copy the memory in each process.
    gc.freeze()
