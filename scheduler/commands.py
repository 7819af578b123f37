"""Running the command of a schedule: in a process group of its own, for a limited time; its last words are kept."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO

from metrics.text.names import printable
from scheduler import guard
from scheduler.errors import BadSource

TAIL_BYTES = 4000
"""Of what a command says, so many are kept."""

LOOK_SECONDS = 0.1
END_SECONDS = guard.GRACE_SECONDS + 5.0

SECRET = ("STEELYARD_DATABASE_URL", "PGPASSWORD", "STEELYARD_BROKER_URL")
"""Not for commands: they hold passwords, or may."""


class Stopped(Exception):
    """The command was ended because the scheduler stops, or because the night is not its any more."""


def run_command(
    command: Sequence[str], *, folder: str, environment: Mapping[str, str], seconds: float, stop: threading.Event
) -> None:
    """Run a command in a folder until it ends.

    It sees our environment without `SECRET`, and `environment`. When the time is over or `stop` is set, and also when
    this process dies, it and all processes of its group are ended: by SIGTERM, and by SIGKILL a few seconds later.
    Raises BadSource with the last lines that it said when it fails or takes too long, Stopped after `stop`.
    """
    inherited = {name: value for name, value in os.environ.items() if name not in SECRET}
    try:
        process = subprocess.Popen(  # noqa: S603 - whoever may add schedules may run commands; docs/nightly.md says so
            # Isolated: the command's folder must not hide modules of the standard library.
            [sys.executable, "-I", guard.__file__, *command],
            cwd=folder,
            env={**inherited, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise BadSource(f"The command cannot be started in {folder}: {error.strerror}.") from error
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        said, in_time = _listen(process, process.stdout, seconds, stop)
        if process.poll() is None:
            # Said aloud: a process of a pool that was forked meanwhile may hold the pipe open.
            with suppress(BrokenPipeError):
                process.stdin.write(b".")
                process.stdin.close()
            more, _ = _listen(process, process.stdout, END_SECONDS, None)
            said = (said + more)[-TAIL_BYTES:]
            process.kill()
        status = process.wait()
    # Whoever has ended it may be ending all of us, and we may hear of it a moment later.
    if stop.wait(LOOK_SECONDS * 10 if status == 128 + signal.SIGTERM else 0.0):
        raise Stopped
    shown = f'The command "{printable(" ".join(command))}"'
    if not in_time:
        raise BadSource(f"{shown} took longer than its {seconds:g} seconds and was ended.{_last_words(said)}")
    if status:
        raise BadSource(f"{shown} failed with exit status {status}.{_last_words(said)}")


def _listen(
    process: subprocess.Popen[bytes], output: IO[bytes], seconds: float, stop: threading.Event | None
) -> tuple[bytes, bool]:
    """The end of what it says until it ends; False when it has not when the time is over or `stop` is set."""
    said, until = b"", time.monotonic() + seconds
    os.set_blocking(output.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while True:
            # Looked at before the pipe: what was said before the end is still read then.
            ended = process.poll() is not None
            if selector.select(LOOK_SECONDS) and not ended:
                with suppress(BlockingIOError):
                    more = os.read(output.fileno(), 1 << 16)
                    said = (said + more)[-TAIL_BYTES:]
                    if not more:
                        selector.unregister(output)
            if ended:
                return (said + _rest(output))[-TAIL_BYTES:], True
            if time.monotonic() > until or (stop is not None and stop.is_set()):
                return said, False


def _rest(output: IO[bytes]) -> bytes:
    """What is in the pipe; a process that was left behind may hold it open for ever."""
    said = b""
    with suppress(BlockingIOError):
        while more := os.read(output.fileno(), 1 << 16):
            said = (said + more)[-TAIL_BYTES:]
    return said


def _last_words(said: bytes) -> str:
    lines = [printable(line) for line in said.decode("utf-8", "replace").strip().splitlines()]
    return " It said nothing." if not lines else " It said at last:\n" + "\n".join(lines[-20:])
