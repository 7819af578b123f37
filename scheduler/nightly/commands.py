"""Runs the command of a schedule in a process group of its own, with a time limit; the end of its output is kept."""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import IO
from urllib.parse import quote, unquote, urlsplit

from runtime.redaction import HIDDEN, redacted
from scheduler.errors import BadSource
from scheduler.nightly import process_group
from steelyard.text.names import printable

TAIL_BYTES = 4000
"""Bytes of the output that are kept."""

LOOK_SECONDS = 0.1
END_SECONDS = process_group.GRACE_SECONDS + 5.0

TAIL_LINES, LONGEST_LINE = 20, 500
"""Lines of these bytes that are shown, and characters per line."""

LONGEST_SECRET = 4096
"""Extra bytes kept at the front: a secret cut off there could not be recognised."""

PASSED_ON = frozenset({"PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR"})
"""Variables of our environment passed to commands, besides all `LC_...` and those in STEELYARD_SCHEDULE_ENVIRONMENT."""

_SECRET_NAME = re.compile(
    r"PASS|SECRET|TOKEN|KEY|CREDENTIAL|AUTH|COOKIE|DSN|PRIVATE|URL|URI|PROXY|CONNECTION", re.IGNORECASE
)
"""Names of variables that hold a secret, or may."""

SHORTEST_SECRET = 4
"""Characters of the shortest secret to redact; shorter ones would match everywhere."""

_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
"""Terminal escape sequences."""


class CommandStopped(Exception):
    """The command was stopped because the scheduler is stopping, or has lost the nightly run."""


def run_command(
    command: Sequence[str],
    *,
    folder: str,
    environment: Mapping[str, str],
    seconds: float,
    stop: threading.Event,
    passed_on: Collection[str] = (),
) -> None:
    """Run a command in a folder until it ends.

    It gets `PASSED_ON` and the variables in `passed_on` from our environment, and `environment`. When the time is over
    or `stop` is set, or if this process dies, its process group is ended: by SIGTERM, and a few seconds later by
    SIGKILL.

    Raises
    ------
    BadSource
        If the command fails or exceeds its time, with its last lines of output, from which secrets of our environment
        are redacted.
    CommandStopped
        After `stop`.
    """
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name in PASSED_ON or name.startswith("LC_") or name in passed_on
    }
    try:
        process = subprocess.Popen(  # noqa: S603 - whoever may add schedules may run commands; docs/how-to/nightly.md says so
            # Isolated: the command's folder must not shadow modules of the standard library.
            [sys.executable, "-I", process_group.__file__, *command],
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
            # An explicit byte: a pool process forked meanwhile may hold the pipe open.
            with suppress(BrokenPipeError):
                process.stdin.write(b".")
                process.stdin.close()
            more, _ = _listen(process, process.stdout, END_SECONDS, None)
            said = _end_of(said + more)
            process.kill()
        status = process.wait()
    # The signal may also have been sent to us and arrive a moment later.
    if stop.wait(LOOK_SECONDS * 10 if status == 128 + signal.SIGTERM else 0.0):
        raise CommandStopped
    shown = f'The command "{printable(" ".join(command))}"'
    if not in_time:
        raise BadSource(f"{shown} took longer than its {seconds:g} seconds and was ended.{_output_tail(said)}")
    if status:
        raise BadSource(f"{shown} failed with exit status {status}.{_output_tail(said)}")


def _listen(
    process: subprocess.Popen[bytes], output: IO[bytes], seconds: float, stop: threading.Event | None
) -> tuple[bytes, bool]:
    """The end of its output until it ends; False if it has not ended when the time is over or `stop` is set."""
    said, until = b"", time.monotonic() + seconds
    os.set_blocking(output.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while True:
            # Checked before reading the pipe, so that the last output is still read.
            ended = process.poll() is not None
            if selector.select(LOOK_SECONDS) and not ended:
                with suppress(BlockingIOError):
                    more = os.read(output.fileno(), 1 << 16)
                    said = _end_of(said + more)
                    if not more:
                        selector.unregister(output)
            if ended:
                return _end_of(said + _rest(output)), True
            if time.monotonic() > until or (stop is not None and stop.is_set()):
                return said, False


def _rest(output: IO[bytes]) -> bytes:
    """The rest of the pipe; a process left behind may hold it open for ever."""
    said = b""
    with suppress(BlockingIOError):
        while more := os.read(output.fileno(), 1 << 16):
            said = _end_of(said + more)
    return said


def _end_of(said: bytes) -> bytes:
    return said[-TAIL_BYTES - LONGEST_SECRET :]


def _output_tail(said: bytes) -> str:
    """Its last lines for users, who may not know what the scheduler knows: a nightly run's reason is shown to them."""
    said = said.replace(b"\0", b"?")
    for secret in _secrets():
        # Redacted to the same length, so that the part cut off at the front, perhaps the end of a secret, stays in
        # place.
        said = said.replace(secret, b"\0" * len(secret))
    text = re.sub(r"\0+", HIDDEN, said[-TAIL_BYTES:].decode("utf-8", "replace"))
    text = redacted(_TERMINAL.sub("", text))
    lines = [_cut(printable(line)) for line in text.strip().splitlines()]
    return " It said nothing." if not lines else " It said at last:\n" + "\n".join(lines[-TAIL_LINES:])


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}..."


def _secrets() -> list[bytes]:
    """The secrets in our environment, the longest first, also in URL encoding.

    Including variables that are passed on: a command may have a secret but must not reveal it.
    """
    found = set()
    for name, value in os.environ.items():
        if not _SECRET_NAME.search(name):
            continue
        found.add(value)
        with suppress(ValueError):
            password = urlsplit(value).password
            found |= {password, unquote(password)} if password else set()
    found |= {quote(each, safe="") for each in found}
    return sorted((os.fsencode(each) for each in found if len(each) >= SHORTEST_SECRET), key=len, reverse=True)
