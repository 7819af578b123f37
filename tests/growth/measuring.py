"""Runs subjects under callgrind, and says how the work of each grows."""

import importlib
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.gate.counting import ROOT, unavailable

SIZES = LEAST, _, ALWAYS, *_, USUAL, LARGEST = tuple(1 << power for power in (4, 7, 9, 12, 15, 17))
"""Characters; up to ALWAYS each is tried, dear or not, and up to USUAL where nothing is said."""
DEAR = 100_000
"""Instructions beyond those of the smallest text, from which on nothing larger is tried; or eight times the noise.

Where nothing else is said."""
NOISE = 0.05
"""Of what the smallest text takes, and NOISE_INSTRUCTIONS: how far a count may be off."""
NOISE_INSTRUCTIONS = 5_000
TOLERANCE = 0.1
STEP = 4
"""How many times dearer another way may be that long texts go: chrF's is three times."""


@dataclass(frozen=True)
class Subject:
    """Something that reads what strangers write."""

    name: str
    prepare: Callable[[int], Callable[[], object]]
    """What is counted, for a text of so many characters."""
    exponent: float = 1.0
    """How it may grow."""
    refuses: tuple[type[Exception], ...] = ()
    """What it may raise."""
    largest: int = USUAL
    sizes: tuple[int, ...] = SIZES
    dear: int = DEAR
    since: int = 0
    """The size of a text by which the work on larger ones is estimated; 0: none is."""


@dataclass(frozen=True)
class Growth:
    """What was counted."""

    name: str
    allowed: float
    instructions: dict[int, int]
    """By size."""
    since: int = 0

    @property
    def exponent(self) -> float:
        """Of the last step, and of all growth since the size by which larger texts are estimated."""
        return max(self._of_the_last_step, self._since_the_estimate)

    @property
    def _of_the_last_step(self) -> float:
        """At least: beyond the smallest text, and beyond the step before, whichever is less.

        Counts may be a little off. A table that is twice as large, say, is a step and no growth: `tests.growth.inside`
        then tries larger texts.
        """
        sizes = sorted(self.instructions)
        least, (earlier, before, last) = self.instructions[sizes[0]], (self.instructions[size] for size in sizes[-3:])
        noise = self._noise
        # What takes less than before went another way: it was refused.
        if last - least < 2 * noise or before - earlier < -noise:
            return 0.0
        growth, step = max(before - least, 0), max(before - earlier, 0)
        ratio = min((last - least - noise) / (growth + noise), (last - before - noise) / (step + noise))
        return math.log(max(ratio, 1.0)) / math.log(sizes[-1] / sizes[-2])

    @property
    def _since_the_estimate(self) -> float:
        largest = max(self.instructions)
        if not self.since or largest <= self.since:
            return 0.0
        least, before, last = (self.instructions[size] for size in (min(self.instructions), self.since, largest))
        ratio = (last - least - self._noise) / (max(before - least, 0) + self._noise)
        return math.log(max(ratio / STEP, 1.0)) / math.log(largest / self.since)

    @property
    def _noise(self) -> float:
        return NOISE * self.instructions[min(self.instructions)] + NOISE_INSTRUCTIONS

    @property
    def is_too_much(self) -> bool:
        """Whether it grows faster than it may."""
        return self.exponent > self.allowed + TOLERANCE

    def __str__(self) -> str:
        counts = ", ".join(f"{size:,}: {count:,}" for size, count in sorted(self.instructions.items()))
        return f"{self.name}: n^{self.exponent:.2f}, n^{self.allowed:g} is allowed ({counts})"


def measured(module: str) -> list[Growth]:
    """How the subjects of a module grow; they are what its function `subjects` yields.

    Skips where nothing can be counted, and fails there instead when `CI` is set.
    """
    if reason := unavailable():
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with tempfile.TemporaryDirectory() as folder:
        log, found = Path(folder, "log"), Path(folder, "found")
        program = ["-m", "tests.growth.inside", module, str(log), str(found)]
        callgrind = ["--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=/dev/null", f"--log-file={log}"]
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONHASHSEED": "0",
            "OPENBLAS_NUM_THREADS": "1",
            "LC_ALL": "C.UTF-8",
        }
        done = subprocess.run(
            [shutil.which("valgrind") or "", *callgrind, sys.executable, *program],
            cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        return [
            Growth(
                row["name"],
                row["allowed"],
                {int(size): count for size, count in row["instructions"].items()},
                row["since"],
            )
            for row in json.loads(found.read_text())
        ]


def too_much(grown: list[Growth]) -> list[str]:
    """Those that grow faster than they may, the worst first."""
    worst = sorted(grown, key=lambda each: each.allowed - each.exponent)
    return [str(each) for each in worst if each.is_too_much]


def is_dear(found: Mapping[int, int], dear: int) -> bool:
    """Whether the largest text that was tried tells enough."""
    least, last = found[min(found)], found[max(found)]
    return last - least > max(dear, 8 * NOISE * least)


def subjects_of(module: str) -> Iterator[Subject]:
    """What a module offers."""
    yield from importlib.import_module(module).subjects()
