"""Runs tests again and again, each time in a process of its own that has the libraries ready; never the project.

    python -m tests.mutants.nursery

in a copy of the tree. Each line of standard input asks for a run, and is answered by a line.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

LIBRARIES = ("celery", "fastapi.testclient", "hypothesis.extra.numpy", "numpy", "psycopg", "redis", "sqlalchemy")
MEMORY = 8 << 30
"""Bytes of address space: a fault may ask for more than there is."""
OPTIONS = (
    *("-q", "-x", "--no-header", "-p", "no:cacheprovider", "--hypothesis-profile=unshrunk", "--hypothesis-seed=1"),
    # With what `make test` leaves to `make test-thorough`.
    *("-m", "not long and not containers"),
    # Libraries that are ready are plugins, some of them.
    *("-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning"),
    # What others remove among the folders of all pytests may be looked at in that moment: a warning, and so an error.
    "--basetemp=mutants.tmp",
)


def main() -> None:
    """Answer until there is nothing more to read."""
    for name in LIBRARIES:
        importlib.import_module(name)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(_run(asked["tests"], asked["seconds"], asked["keep_bytecode"])), flush=True)


def _run(tests: Sequence[str], seconds: float, keep_bytecode: bool) -> dict[str, object]:
    """The exit status of pytest, None where it took too long, and what it wrote."""
    output, begun = Path("mutants.log"), time.monotonic()
    child = os.fork()
    if not child:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        with output.open("wb") as file:
            for stream in (1, 2):
                os.dup2(file.fileno(), stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        # A source that is changed twice within a second would be taken for the same.
        sys.dont_write_bytecode = not keep_bytecode
        status = 3
        try:
            status = int(pytest.main([*OPTIONS, *tests]))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    try:
        status = _wait(child, begun + seconds)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
    return {"status": status, "seconds": time.monotonic() - begun, "output": output.read_text(errors="replace")[-4000:]}


def _wait(child: int, deadline: float) -> int | None:
    while time.monotonic() < deadline:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


if __name__ == "__main__":
    main()
