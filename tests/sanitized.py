"""Runs tests on kernels that end at the first read or write out of bounds, and at undefined behaviour.

    python -m tests.sanitized [TEST ...]     (make sanitize)

It is made by gcc with AddressSanitizer and UndefinedBehaviorSanitizer, in a copy of the tree.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.mutants.trial import copy_tree

COMPILER = "gcc -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g"
# Not stripped, and less optimised: reports name lines.
BUILD = """
import hatch_build
hatch_build.FLAGS = (*(flag for flag in hatch_build.FLAGS if flag not in ("-s", "-O3")), "-O1")
hatch_build.compile_kernels()
"""
TESTS = ("tests/library/kernels",)
"""Every kernel, on hostile texts through all metrics (test_hostile_texts.py) and in property tests of its own."""
LEFT_OUT = "not freed_memory and not letters_that_need_no_look"
"""The sanitizer has an allocator of its own; and one test goes through all code points, in minutes."""
PROCESSES = 2


def main() -> int:
    """Compile and run; the exit status of pytest."""
    with tempfile.TemporaryDirectory(prefix="steelyard-sanitized-", dir="/tmp") as folder:
        copy_tree(Path(folder))
        environment = {**os.environ, "PYTHONPATH": f"{folder}:{folder}/library:{folder}/client"}
        subprocess.run([sys.executable, "-c", BUILD], cwd=folder, env={**environment, "CC": COMPILER}, check=True)
        environment |= {
            "LD_PRELOAD": " ".join(_library(name) for name in ("libasan.so", "libubsan.so")),
            "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
            "UBSAN_OPTIONS": "print_stacktrace=1",
            # Python's own allocator would hide what lies beside its objects.
            "PYTHONMALLOC": "malloc",
        }
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=unshrunk"]
        command += ["-m", "not long and not containers", "-k", LEFT_OUT]
        command += ["--numprocesses", str(PROCESSES), "--dist", "loadfile", *(sys.argv[1:] or TESTS)]
        return subprocess.run(command, cwd=folder, env=environment, check=False).returncode


def _library(name: str) -> str:
    found = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, check=True, text=True)
    return found.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
