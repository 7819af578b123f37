"""Runs workloads under callgrind, a process for each group of them, and adds up what it wrote down."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.gate import requests
from benchmarks.gate.profiles import by_part, profiles, reason

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "demo" / "harbour"
CALLGRIND = ("valgrind", "--quiet", "--tool=callgrind", "--dump-line=no")

YARDSTICK = "sacreBLEU"
"""BLEU by a program that stays the same: what other versions of Python do to it, they do to what we have in Python."""
GROUPS: tuple[tuple[str, ...], ...] = (
    (
        YARDSTICK,
        "reading",
        "words 13a",
        "words none",
        "words intl",
        "words 13a lc",
        "bleu",
        "chrf",
        "ter",
        "wer",
        "per",
    ),
    ("shard", "reduction", "tick, window full", "tick, two places free"),
    ("lebleu", "character", "sempos", "ribes"),
    ("nist", "chrf++", "fmeasure", "gtm", "tbleu", "meteor", "bleu_modif", "wer_modif"),
    ("replicates", "formulas", "paired bootstrap", "randomization", "storing"),
)
"""Each in one process, one after the other. The first alone takes half a minute, and has the most used."""
QUICK = GROUPS[0]
COMMANDS: dict[str, tuple[str, ...]] = {
    "steelyard --help": ("--help",),
    "steelyard score, bleu": ("score", "REF", "-i", "SYSTEM", "-m", "bleu"),
    "steelyard score, 3 metrics": ("score", "REF", "-i", "SYSTEM", "-m", "bleu", "chrf", "ter", "--confidence"),
}
"""Whole processes, with the start of Python: on the demo campaign."""


@dataclass
class Counted:
    """Instructions of each workload by part, and with what they were counted."""

    instructions: dict[str, dict[str, int]] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)


def unavailable() -> str | None:
    """Why nothing can be counted here; None where it can."""
    if sys.platform != "linux" or platform.machine() not in requests.MACHINES:
        return f"instructions are counted on Linux and {', '.join(requests.MACHINES)} alone"
    if shutil.which("valgrind") is None:
        return "there is no valgrind on this machine (Debian: apt install valgrind)"
    return None


def count(names: set[str]) -> Counted:
    """The instructions of these workloads, the least of the times that each was counted; two at a time on two cores.

    Whole groups are run, so that a workload finds the same before it each time.
    """
    counted = Counted()
    groups = [group for group in GROUPS if names & set(group)]
    commands = [name for name in COMMANDS if name in names]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        # The longest first.
        found = [*pool.map(_group, groups[::-1]), *pool.map(_command, commands)]
    for each in found:
        counted.instructions |= {name: parts for name, parts in each.instructions.items() if name in names}
        counted.versions |= each.versions
    valgrind = subprocess.run(["valgrind", "--version"], capture_output=True, text=True, check=True)
    counted.versions["valgrind"] = valgrind.stdout.strip().removeprefix("valgrind-")
    return counted


def _group(names: tuple[str, ...]) -> Counted:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        program = [sys.executable, "-m", "benchmarks.gate.inside", temporary, *names]
        _run([*CALLGRIND, "--instr-atstart=no", f"--callgrind-out-file={folder / 'profile'}", *program])
        counted = Counted(versions=json.loads((folder / "versions.json").read_text()))
        for profile in profiles(folder):
            name = reason(profile)
            if name is not None:
                _keep_least(counted, name, by_part(profile))
    return counted


def _command(name: str) -> Counted:
    files = {"REF": str(DEMO / "refs" / "A.txt"), "SYSTEM": str(sorted((DEMO / "systems").iterdir())[0])}
    program = [sys.executable, "-m", "cli.main", *(files.get(word, word) for word in COMMANDS[name])]
    # Before it is counted, Python has written down what it compiled.
    _run(program)
    with tempfile.TemporaryDirectory() as temporary:
        _run([*CALLGRIND, f"--callgrind-out-file={temporary}/profile", *program])
        counted = Counted()
        for profile in profiles(Path(temporary)):
            _keep_least(counted, name, by_part(profile))
    return counted


def _keep_least(counted: Counted, name: str, parts: Counter[str]) -> None:
    before = counted.instructions.get(name)
    if before is None or parts.total() < sum(before.values()):
        counted.instructions[name] = dict(parts)


def _run(command: list[str]) -> None:
    # Nothing of the caller's environment: it would lie in the process's memory, and might say how to work.
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{ROOT}:{ROOT}/library:{ROOT}/client",
        "PYTHONHASHSEED": "0",
        "OPENBLAS_NUM_THREADS": "1",
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
