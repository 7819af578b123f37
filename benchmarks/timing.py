"""Fair pairs: two ways to do the same, in turn on the same machine, so that a slow spell hits both."""

from __future__ import annotations

import gc
import os
import resource
import statistics
import subprocess
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass
class Pair:
    """CPU seconds of both sides, run by run."""

    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """Median of the ratios of each turn: how many times faster we are."""
        return statistics.median(b / a for a, b in zip(self.ours, self.theirs, strict=True))

    def row(self, workload: str, peer: str) -> str:
        """A row of a Markdown table."""
        ours, theirs = statistics.median(self.ours), statistics.median(self.theirs)
        spread = f"{min(b / a for a, b in zip(self.ours, self.theirs, strict=True)):.0f} to " + (
            f"{max(b / a for a, b in zip(self.ours, self.theirs, strict=True)):.0f}"
        )
        return f"| {workload} | {ours:.4f} | {theirs:.3f} ({peer}) | **{self.ratio:.1f}×** ({spread}) |"


HEADER = "| workload | ours, CPU s | peer, CPU s | ratio (least to most) |\n|---|---|---|---|"


def in_turn(ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int, repeat: int = 10) -> tuple[Pair, Any, Any]:
    """Time two functions in this process, ours after one warm-up; return the pair and both last results.

    Ours is `repeat` times within each turn and counted once, since one run is near the clock's resolution.
    """
    pair = Pair()
    mine = ours()
    # What earlier workloads left must not be searched for garbage on the time of this one.
    gc.collect()
    gc.freeze()
    for turn in range(rounds):
        order = ("ours", "theirs") if turn % 2 == 0 else ("theirs", "ours")
        for side in order:
            start = time.process_time()
            if side == "ours":
                for _ in range(repeat):
                    mine = ours()
                pair.ours.append((time.process_time() - start) / repeat)
            else:
                other = theirs()
                pair.theirs.append(time.process_time() - start)
    return pair, mine, other


def whole_process(command: Sequence[str]) -> tuple[float, float]:
    """Run a command to its end: CPU seconds of it and its children, and peak memory in MiB."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output = process.stdout.read() if process.stdout else b""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}: {output.decode()[-500:]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def peak_memory() -> float:
    """Of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
