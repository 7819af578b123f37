"""Initialisation and replacement of pool processes: the same for Celery's pool and the embedded one."""

from __future__ import annotations

import os

from runtime.telemetry import memory_bytes
from worker.context import WorkerContext
from worker.memory_limit import RENEWED_AT, limit_memory, task_bytes

TASKS_PER_PROCESS = 500
"""Tasks after which a pool process is replaced."""


def begin(context: WorkerContext, number: int) -> None:
    """Initialize a pool process: its number, memory limit and nice value."""
    context.counters.begin(number)
    limit_memory(task_bytes(context.settings, context.processes))
    os.nice(context.settings.niceness)


def resident_limit(context: WorkerContext) -> int:
    """The memory, in bytes, at which processes forked from this one are replaced after their task.

    0 if usage is unknown.
    """
    here = memory_bytes()
    return 0 if here is None else int(here + RENEWED_AT * task_bytes(context.settings, context.processes))


def should_be_replaced(tasks: int, most: int) -> bool:
    """Whether this process is due for replacement, by its number of tasks or its `resident_limit`."""
    return tasks >= TASKS_PER_PROCESS or (most > 0 and (memory_bytes() or 0) > most)
