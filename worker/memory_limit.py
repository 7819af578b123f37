"""Limits the memory of pool processes, so that one bad task cannot take down the machine.

The limit applies to writable data (RLIMIT_DATA), counted from the level at the fork: memory shared with the parent, and
files mapped for reading (word vectors), do not count (docs/explanation/decisions).
"""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from pathlib import Path

from runtime.settings import Settings
from runtime.telemetry import memory_bytes

RENEWED_AT = 0.75
"""A process that has used this part of its limit is replaced after its task: leaked memory must not fail others."""

_CONTAINER = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def task_bytes(settings: Settings, processes: int) -> int:
    """The memory for each of this many processes: the setting, or an equal share of the machine's memory."""
    return settings.task_bytes or machine_bytes() // processes


def machine_bytes() -> int:
    """The memory of this machine or container."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for file in _CONTAINER:
        # "max" without a limit.
        with suppress(OSError, ValueError):
            sizes.append(int(Path(file).read_text()))
    return min(sizes)


def limit_memory(most: int) -> None:
    """Limit this process to this many bytes more than now; no effect if its usage is unknown."""
    used = memory_bytes(field="VmData")
    if used is None:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = used + most
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def out_of_memory(error: MemoryError, settings: Settings, processes: int) -> str:
    """The message for users whose task exceeded the limit."""
    most = task_bytes(settings, processes) // 2**20
    said = str(error).rstrip(".")
    cause = f" ({said[:1].lower()}{said[1:]})" if said else ""
    return (
        f"it needs more memory than the {most} MiB that each process may use{cause}. "
        "Set STEELYARD_TASK_BYTES higher, or STEELYARD_LARGEST_SHARD_BYTES lower."
    )
