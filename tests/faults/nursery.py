"""A process that has imported everything and forks those of fault tests: starting Python anew takes seconds each time.

It reads requests from its standard input, one JSON object a line, answers each with the number of the new process, and
writes how that ended into the file it was given. It ends when its standard input does.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

STATUS_SECONDS = 0.01

IMPORTED = ("celery.apps.worker", "celery.bin.worker", "cli.main", "tests.faults.program", "worker.handlers")
"""What takes most of a start."""


def site_packages() -> list[str]:
    """The folders of installed packages that this process imports from."""
    return [each for each in sys.path if each.endswith("site-packages")]


class Forked:
    """A process of the nursery, as `subprocess.Popen` has it."""

    def __init__(self, pid: int, status: Path) -> None:
        self.pid = pid
        self._status = status

    def poll(self) -> int | None:
        """How it ended, None while it lives."""
        try:
            told = self._status.read_text()
        except FileNotFoundError:
            return None
        return int(told) if told.endswith("\n") else None

    def wait(self, timeout: float) -> int:
        """Wait until it has ended; raises subprocess.TimeoutExpired."""
        deadline = time.monotonic() + timeout
        while (ended := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
            time.sleep(STATUS_SECONDS)
        return ended

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it has not ended."""
        if self.poll() is None:
            os.kill(self.pid, number)


class Nursery:
    """The nursery as tests see it."""

    def __init__(self, folder: Path, repository: Path) -> None:
        self._log = (folder / "nursery.log").open("ab")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.nursery"],
            cwd=repository,
            # One thread for linear algebra, or it would be forked in the middle of others.
            env={
                **os.environ,
                # Packages that the tests have found elsewhere are there for it, too.
                "PYTHONPATH": ":".join(
                    [str(repository), f"{repository}/library", f"{repository}/client", *site_packages()]
                ),
                "OPENBLAS_NUM_THREADS": "1",
                "OMP_NUM_THREADS": "1",
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            start_new_session=True,
        )
        self._folder = folder
        self._born = 0

    def fork(self, arguments: list[str], environment: dict[str, str], log: Path) -> Forked:
        """A new process of `tests.faults.program`, in a session of its own."""
        self._born += 1
        status = self._folder / f"{self._born}.status"
        request = {"arguments": arguments, "environment": environment, "log": str(log), "status": str(status)}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, (self._folder / "nursery.log").read_text()
        return Forked(int(answer), status)

    def close(self) -> None:
        """End it; its processes must have ended."""
        for pipe in (self._process.stdin, self._process.stdout, self._log):
            if pipe is not None:
                pipe.close()
        self._process.wait(30)


def _serve() -> None:
    living: dict[int, str] = {}
    gc.freeze()
    while True:
        if select.select([sys.stdin], [], [], STATUS_SECONDS if living else None)[0]:
            line = sys.stdin.buffer.raw.readline()
            if not line:
                return
            request = json.loads(line)
            pid = os.fork()
            if pid == 0:
                _live(request)
            living[pid] = request["status"]
            sys.stdout.write(f"{pid}\n")
            sys.stdout.flush()
        for pid in list(living):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                Path(living.pop(pid)).write_text(f"{os.waitstatus_to_exitcode(status)}\n")


def _live(request: dict[str, Any]) -> None:
    """Become the program; never returns."""
    os.setsid()
    nothing, log = os.open(os.devnull, os.O_RDONLY), os.open(request["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for target, source in ((0, nothing), (1, log), (2, log)):
        os.dup2(source, target)
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["program", *request["arguments"]]
    code: object = 1
    try:
        from tests.faults.program import main

        code = main(request["arguments"])
    except SystemExit as end:
        code = end.code
    except KeyboardInterrupt:
        # As Python ends where nobody catches it.
        traceback.print_exc()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        traceback.print_exc()
    if isinstance(code, str):
        print(code, file=sys.stderr)
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


if __name__ == "__main__":
    for module in IMPORTED:
        import_module(module)
    _serve()
