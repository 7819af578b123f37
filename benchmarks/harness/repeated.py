"""Runs one of our commands some times in one process: `python -m benchmarks.harness.repeated FILE TIMES COMMAND ...`.

`{run}` in a word of the command stands for the number of the run. FILE gets the seconds that each run took.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from cli.main import main


def repeat(times: int, command: list[str]) -> list[float]:
    """Wall seconds of each run. Raises RuntimeError where one fails."""
    seconds = []
    for run in range(times):
        begun = time.monotonic()
        if status := main([word.replace("{run}", str(run)) for word in command]):
            raise RuntimeError(f"run {run} ended with {status}")
        seconds.append(time.monotonic() - begun)
    return seconds


if __name__ == "__main__":
    taken = repeat(int(sys.argv[2]), sys.argv[3:])
    Path(sys.argv[1]).write_text(" ".join(map(str, taken)))
