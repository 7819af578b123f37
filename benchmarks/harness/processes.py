"""What processes took: CPU and peak memory of a program and of every process that it started. Linux alone."""

from __future__ import annotations

import atexit
import os
import re
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EVERY = 0.05
PSS_EVERY = 0.5
"""Seconds between looks at proportional memory, which the kernel must add up page by page."""


@dataclass
class Peak:
    """The most memory that one process had, in MiB."""

    role: str
    resident: float = 0.0
    """VmHWM: everything mapped, what it shares with others included."""
    proportional: float = 0.0
    """Pss: a page shared by n processes counts as one n-th. The largest that was seen."""


@dataclass
class Watched:
    """A program that runs and whose processes are watched from the start."""

    name: str
    process: subprocess.Popen[bytes]
    peaks: dict[int, Peak] = field(default_factory=dict)
    cpu: float = 0.0
    """Seconds of the program and all its children, once it has ended."""
    wall: float = 0.0
    _begun: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def wait(self) -> str:
        """What it wrote; raises RuntimeError where it failed."""
        output = self.process.stdout.read() if self.process.stdout else b""
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.wall = time.monotonic() - self._begun
        self.cpu = usage.ru_utime + usage.ru_stime
        self._watcher.join()
        if self.process.returncode not in {0, -15, 143}:
            raise RuntimeError(f"{self.name} ended with {self.process.returncode}: {output.decode()[-2000:]}")
        return output.decode()

    def stop(self) -> str:
        """SIGTERM, and wait."""
        self.process.terminate()
        return self.wait()

    def _watch(self) -> None:
        looked = 0.0
        while self.process.returncode is None:
            proportional = time.monotonic() - looked >= PSS_EVERY
            if proportional:
                looked = time.monotonic()
            for pid in _tree(self.process.pid):
                role = self.name if pid == self.process.pid else f"{self.name}: process"
                peak = self.peaks.setdefault(pid, Peak(role))
                peak.resident = max(peak.resident, _mebibytes(pid, "status", "VmHWM"))
                if proportional:
                    peak.proportional = max(peak.proportional, _mebibytes(pid, "smaps_rollup", "Pss"))
            time.sleep(EVERY)


def start(name: str, command: Sequence[str], environment: Mapping[str, str], *, quiet: bool = False) -> Watched:
    """Start a program; `quiet` throws away what it writes."""
    process = subprocess.Popen(
        command,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if quiet else subprocess.PIPE,
        stderr=subprocess.DEVNULL if quiet else subprocess.STDOUT,
    )
    atexit.register(_end, process)
    return Watched(name, process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """A benchmark that was interrupted leaves nothing behind."""
    if process.returncode is None and process.poll() is None:
        process.terminate()


def cpu_seconds(pid: int) -> float:
    """CPU of a running process and of those of its children that have ended, and of all that are alive below it."""
    total, tick = 0.0, os.sysconf("SC_CLK_TCK")
    for each in _tree(pid):
        with suppress(OSError):
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            total += sum(map(int, fields[11:15])) / tick
    return total


def _mebibytes(pid: int, file: str, field: str) -> float:
    """Of a file in /proc; 0 for a process that is ending."""
    with suppress(OSError):
        if found := re.search(rf"^{field}:\s+(\d+)", Path(f"/proc/{pid}/{file}").read_text(), re.MULTILINE):
            return int(found[1]) / 1024
    return 0.0


def _tree(pid: int) -> list[int]:
    found = [pid]
    for each in found:
        for task in Path(f"/proc/{each}/task").glob("*/children"):
            with suppress(OSError):
                found += [int(child) for child in task.read_text().split()]
    return found
