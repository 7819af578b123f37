"""Tries a mutant in a copy of the tree: the tree that one works in is never touched."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tests.mutants.mutant import Mutant
from tests.mutants.python_operators import can_be_compiled
from tests.mutants.target import ROOT

KERNELS = Path("library/steelyard/kernels/_kernels.so")
LONGEST_SECONDS = 1200.0
"""For tests without any fault."""


class Fate(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    TIMED_OUT = "timed out"
    NOT_COMPILED = "not compiled"
    SURVIVED = "SURVIVED"


class BrokenTests(Exception):
    """Tests fail where there is no fault."""


@dataclass(frozen=True)
class Tried:
    """A mutant, and what became of it."""

    mutant: Mutant
    fate: Fate
    seconds: float
    by: str = ""
    """The test that failed."""


class Copy:
    """A copy of the tree, and a process that runs tests in it."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._folder = folder
        copy_tree(folder)
        (folder / "mutants.log").touch()
        # Before the place where the project is installed from.
        self._environment = {**os.environ, **environment, "PYTHONPATH": f"{folder}:{folder}/library:{folder}/client"}
        self._seconds: dict[tuple[str, ...], float] = {}
        self._nursery = subprocess.Popen(
            [sys.executable, "-m", "tests.mutants.nursery"],
            cwd=folder,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        """End the process, and what it runs."""
        self._nursery.terminate()
        self._nursery.communicate()

    def attempt(self, mutant: Mutant, tests: tuple[str, ...]) -> Tried:
        """Put the fault in, run the tests until one fails, and take it out. Raises BrokenTests."""
        limit = 30 + 5 * self._without_fault(tests)
        file = self._folder / mutant.path
        source = file.read_bytes()
        if file.suffix == ".py" and not can_be_compiled(mutant.applied(source)):
            return Tried(mutant, Fate.NOT_COMPILED, 0.0)
        for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
            compiled.unlink()
        file.write_bytes(mutant.applied(source))
        try:
            if file.suffix != ".py" and not self._compile():
                return Tried(mutant, Fate.NOT_COMPILED, 0.0)
            found = self._run(tests, limit)
        finally:
            file.write_bytes(source)
            if file.suffix != ".py":
                shutil.copy2(ROOT / KERNELS, self._folder / KERNELS)
        fate = {0: Fate.SURVIVED, None: Fate.TIMED_OUT}.get(found["status"], Fate.KILLED)
        failed = [line.split(" ")[1] for line in found["output"].splitlines() if line.startswith(("FAILED ", "ERROR "))]
        return Tried(mutant, fate, found["seconds"], failed[-1] if failed and fate is Fate.KILLED else "")

    def _without_fault(self, tests: tuple[str, ...]) -> float:
        """How many seconds they take."""
        if tests not in self._seconds:
            found = self._run(tests, LONGEST_SECONDS, keep_bytecode=True)
            if found["status"] != 0:
                raise BrokenTests(f"{' '.join(tests)} fail without any fault:\n{found['output']}")
            self._seconds[tests] = found["seconds"]
        return self._seconds[tests]

    def _run(self, tests: tuple[str, ...], seconds: float, *, keep_bytecode: bool = False) -> dict:
        assert self._nursery.stdin is not None
        assert self._nursery.stdout is not None
        asked = {"tests": tests, "seconds": seconds, "keep_bytecode": keep_bytecode}
        self._nursery.stdin.write(json.dumps(asked) + "\n")
        self._nursery.stdin.flush()
        return json.loads(self._nursery.stdout.readline())

    def _compile(self) -> bool:
        compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang")
        environment = {**self._environment, **({"CC": compiler} if compiler else {})}
        built = subprocess.run(
            [sys.executable, "library/hatch_build.py"],
            cwd=self._folder,
            env=environment,
            capture_output=True,
            check=False,
        )
        return built.returncode == 0


def copy_tree(folder: Path) -> None:
    """What the tree holds: its files, new ones too, and the compiled kernels."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    names = [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    for name in [*names, str(KERNELS)]:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
