"""Counts inside callgrind: `tests.growth.measuring` starts it with a module, a log and a file for what is found."""

import gc
import json
import platform
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from benchmarks.gate import requests
from tests.growth.measuring import ALWAYS, SIZES, Growth, Subject, is_dear, subjects_of

MACHINE = platform.machine()
MORE = 2
"""Larger texts that are tried where the growth up to a dear one was too much."""


def counted(work: Callable[[], object], refuses: tuple[type[Exception], ...], log: Path) -> int:
    """The instructions of one call."""
    before = requests.counted(MACHINE, log)
    with suppress(*refuses):
        work()
    return requests.counted(MACHINE, log) - before


def grown(subject: Subject, log: Path) -> dict[int, int]:
    """Instructions by size, from nearly nothing on."""
    found: dict[int, int] = {}
    # What is made at the first call is not counted.
    with suppress(*subject.refuses):
        subject.prepare(SIZES[1])()
    more = MORE
    for size in subject.sizes:
        if size > subject.largest:
            break
        if size > ALWAYS and is_dear(found, subject.dear):
            if not more or not Growth(subject.name, subject.exponent, found, subject.since).is_too_much:
                break
            more -= 1
        found[size] = counted(subject.prepare(size), subject.refuses, log)
    return found


def main() -> None:
    """Count all subjects of a module."""
    module, log, target = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    subjects = list(subjects_of(module))
    for subject in subjects:
        # What is loaded at the first call is loaded before counting, which takes ten times as long.
        with suppress(*subject.refuses):
            subject.prepare(SIZES[1])()
    gc.collect()
    gc.freeze()
    gc.disable()
    requests.start(MACHINE)
    rows = [
        {"name": each.name, "allowed": each.exponent, "since": each.since, "instructions": grown(each, log)}
        for each in subjects
    ]
    target.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
