"""Fair pairs: two ways to do the same, in turn on the same machine, so that a slow spell hits both."""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

LAUNCH = Path(__file__).with_name("launch.py")
ENOUGH = 30.0
"""Seconds after which a pair gets no further turn."""


@dataclass
class Pair:
    """Seconds of both sides, turn by turn."""

    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)

    @property
    def ratios(self) -> list[float]:
        """Of each turn: how many times faster we are."""
        return [b / a for a, b in zip(self.ours, self.theirs, strict=True)]

    @property
    def ratio(self) -> float:
        """Their median."""
        return statistics.median(self.ratios)

    @property
    def least_ours(self) -> float:
        """Our best turn."""
        return min(self.ours)


def turns(rounds: int, enough: float = ENOUGH) -> Iterator[int]:
    """Numbers of turns: so many, but none begins once they took long enough together."""
    begun = time.monotonic()
    for turn in range(rounds):
        if turn and time.monotonic() - begun > enough:
            return
        yield turn


def in_turn(ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int, repeat: int = 10) -> tuple[Pair, Any, Any]:
    """CPU seconds of two functions in this process, ours after one warm-up; the pair and both last results.

    Ours is `repeat` times within each turn and counted once, since one run is near the clock's resolution.
    """
    pair = Pair()
    mine = ours()
    # What earlier workloads left must not be searched for garbage on the time of this one.
    gc.collect()
    gc.freeze()
    for turn in turns(rounds):
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


@dataclass(frozen=True)
class Finished:
    """A command that has ended."""

    cpu: float
    """Seconds, user and system, its children included."""
    wall: float
    peak: float
    """MiB of the largest process."""
    output: str
    """What it wrote, but for its errors."""


def whole_process(command: Sequence[str], stdin: Path | None = None) -> Finished:
    """Run a command to its end; raises RuntimeError with the end of what it wrote where it failed.

    Python keeps compiled modules, as it does by default.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder, stdin.open("rb") if stdin else open(os.devnull, "rb") as given:
        took = Path(folder) / "took"
        launched = [sys.executable, "-I", "-S", str(LAUNCH), str(took), *command]
        run = subprocess.run(launched, stdin=given, capture_output=True, check=False, env=environment)
        if run.returncode:
            said = run.stderr.decode(errors="replace")[-500:]
            raise RuntimeError(f"{' '.join(command[:4])} ended with {run.returncode}: {said}")
        cpu, wall, peak = map(float, took.read_text().split())
    return Finished(cpu, wall, peak, run.stdout.decode(errors="replace"))
