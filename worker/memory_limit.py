"""How much memory a process of the pool may use, so that one bad task cannot take the machine with it.

The limit is on data that a process may write (RLIMIT_DATA), counted from where it stands when it is forked: whatever
it shares with its parent, and files that it maps to read (word vectors), do not count (docs/decisions).
"""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from pathlib import Path

from runtime.settings import Settings

RENEWED_AT = 0.75
"""A process that has used so much of its limit is replaced after its task: memory that leaks must not fail others."""

_CONTAINER = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def task_bytes(settings: Settings, processes: int) -> int:
    """What each of so many processes may use: the setting, or else an equal share of the machine's memory."""
    return settings.task_bytes or machine_bytes() // processes


def machine_bytes() -> int:
    """The memory of this machine, or of the container that we are in."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for file in _CONTAINER:
        # "max" where there is no limit.
        with suppress(OSError, ValueError):
            sizes.append(int(Path(file).read_text()))
    return min(sizes)


def limit_memory(most: int) -> None:
    """Let this process use so many bytes more than now; nothing where the system cannot tell what it uses."""
    used = _status("VmData")
    if used is None:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = used + most
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def resident_bytes() -> int | None:
    """The memory that this process uses; None where the system cannot tell."""
    return _status("VmRSS")


def out_of_memory(error: MemoryError, settings: Settings, processes: int) -> str:
    """What to tell the user whose task wanted more."""
    most = task_bytes(settings, processes) // 2**20
    said = str(error).rstrip(".")
    cause = f" ({said[:1].lower()}{said[1:]})" if said else ""
    return (
        f"it needs more memory than the {most} MiB that each process may use{cause}. "
        "Set STEELYARD_TASK_BYTES higher, or STEELYARD_LARGEST_SHARD_BYTES lower."
    )


def _status(field: str) -> int | None:
    """A size that Linux knows of this process, in bytes."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) * 1024
    return None
