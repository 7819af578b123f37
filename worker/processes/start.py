"""What a process of a pool does first, and when it has done enough: the same for Celery's pool and the embedded one."""

from __future__ import annotations

import os

from worker.context import WorkerContext
from worker.memory_limit import RENEWED_AT, limit_memory, resident_bytes, task_bytes

TASKS_PER_PROCESS = 500
"""A process of the pool is replaced after so many."""


def begin(context: WorkerContext, number: int) -> None:
    """Say which process of the pool this is, and keep to its share of memory and to its urgency."""
    context.tally.begin(number)
    limit_memory(task_bytes(context.settings, context.processes))
    os.nice(context.settings.niceness)


def resident_limit(context: WorkerContext) -> int:
    """The memory, in bytes, with which processes that are forked from this one are replaced after their task.

    0 where the system cannot tell what they use.
    """
    here = resident_bytes()
    return 0 if here is None else int(here + RENEWED_AT * task_bytes(context.settings, context.processes))


def is_used_up(tasks: int, most: int) -> bool:
    """Whether this process is to be replaced after so many tasks, by its `resident_limit` too."""
    return tasks >= TASKS_PER_PROCESS or (most > 0 and (resident_bytes() or 0) > most)
