"""Counts workloads inside callgrind: `benchmarks.gate.counting` starts it.

valgrind --tool=callgrind --instr-atstart=no python -m benchmarks.gate.inside FOLDER NAME [NAME ...]
"""

from __future__ import annotations

import gc
import json
import platform
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.gate import requests
from benchmarks.gate.versions import versions
from benchmarks.gate.workloads import WORKLOADS, Texts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmarks.gate.workloads import Work

WARM = 3
"""Times that a workload is done before it is counted: modules are loaded and tables filled then."""
TIMES = 2
"""Times that it is counted."""


def count(name: str, work: Work) -> None:
    """Ask for a profile of each time."""
    machine = platform.machine()
    for turn in range(WARM + TIMES):
        work.before()
        requests.zero(machine)
        work.count()
        if turn >= WARM:
            requests.dump(machine, name)


def run(known: Mapping[str, Callable[[Texts], Work]], names: list[str], folder: Path) -> None:
    """Make ready and count each; leave a note of what it was counted with."""
    with tempfile.TemporaryDirectory() as temporary:
        texts = Texts(Path(temporary))
        (folder / "versions.json").write_text(json.dumps(versions(texts)))
        ready = [(name, known[name](texts)) for name in names]
        # What is collected, and when, would depend on what else there is.
        gc.collect()
        gc.freeze()
        gc.disable()
        requests.start(platform.machine())
        for name, work in ready:
            count(name, work)


def main() -> None:
    """Count what the command line names."""
    if not requests.on_valgrind(platform.machine()):
        sys.exit("This runs inside valgrind: python -m benchmarks.gate.")
    folder, *names = sys.argv[1:]
    known = dict(WORKLOADS)
    if not known.keys() >= set(names):
        from benchmarks.gate.queued import QUEUED

        known |= QUEUED
    run(known, names, Path(folder))


if __name__ == "__main__":
    main()
