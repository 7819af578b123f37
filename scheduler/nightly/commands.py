"""Running the command of a schedule: in a process group of its own, for a limited time; its last words are kept."""

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

from metrics.text.names import printable
from runtime.redaction import HIDDEN, redacted
from scheduler.errors import BadSource
from scheduler.nightly import process_group

TAIL_BYTES = 4000
"""Of what a command says, so many are kept."""

LOOK_SECONDS = 0.1
END_SECONDS = process_group.GRACE_SECONDS + 5.0

TAIL_LINES, LONGEST_LINE = 20, 500
"""Of these bytes so many lines are shown, each with so many characters."""

LONGEST_SECRET = 4096
"""Bytes; so many more are kept, since a secret could be cut at their beginning, and nobody would know it again."""

PASSED_ON = frozenset({"PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR"})
"""What commands see of our environment, with all `LC_...` and what STEELYARD_NIGHT_ENVIRONMENT names."""

_SECRET_NAME = re.compile(
    r"PASS|SECRET|TOKEN|KEY|CREDENTIAL|AUTH|COOKIE|DSN|PRIVATE|URL|URI|PROXY|CONNECTION", re.IGNORECASE
)
"""Of variables that hold a secret, or may."""

SHORTEST_SECRET = 4
"""Characters; what is shorter would be found everywhere."""

_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
"""What moves a terminal's cursor, colours its letters and the like."""


class CommandStopped(Exception):
    """The command was ended because the scheduler stops, or because the night is not its any more."""


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

    It sees of our environment what is `PASSED_ON` and the variables named in `passed_on`, and `environment`. When the
    time is over or `stop` is set, and also when this process dies, it and all processes of its group are ended: by
    SIGTERM, and by SIGKILL a few seconds later.
    Raises BadSource with the last lines that it said, without secrets of our environment, when it fails or takes too
    long, Stopped after `stop`.
    """
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name in PASSED_ON or name.startswith("LC_") or name in passed_on
    }
    try:
        process = subprocess.Popen(  # noqa: S603 - whoever may add schedules may run commands; docs/nightly.md says so
            # Isolated: the command's folder must not hide modules of the standard library.
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
            # Said aloud: a process of a pool that was forked meanwhile may hold the pipe open.
            with suppress(BrokenPipeError):
                process.stdin.write(b".")
                process.stdin.close()
            more, _ = _listen(process, process.stdout, END_SECONDS, None)
            said = _end_of(said + more)
            process.kill()
        status = process.wait()
    # Whoever has ended it may be ending all of us, and we may hear of it a moment later.
    if stop.wait(LOOK_SECONDS * 10 if status == 128 + signal.SIGTERM else 0.0):
        raise CommandStopped
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
                    said = _end_of(said + more)
                    if not more:
                        selector.unregister(output)
            if ended:
                return _end_of(said + _rest(output)), True
            if time.monotonic() > until or (stop is not None and stop.is_set()):
                return said, False


def _rest(output: IO[bytes]) -> bytes:
    """What is in the pipe; a process that was left behind may hold it open for ever."""
    said = b""
    with suppress(BlockingIOError):
        while more := os.read(output.fileno(), 1 << 16):
            said = _end_of(said + more)
    return said


def _end_of(said: bytes) -> bytes:
    return said[-TAIL_BYTES - LONGEST_SECRET :]


def _last_words(said: bytes) -> str:
    """What it said last, for people who may not know what the scheduler knows: the reason of a night is shown."""
    said = said.replace(b"\0", b"?")
    for secret in _secrets():
        # As long as it was: what lies behind stays where it is until the beginning, a secret's end perhaps, is cut off.
        said = said.replace(secret, b"\0" * len(secret))
    text = re.sub(r"\0+", HIDDEN, said[-TAIL_BYTES:].decode("utf-8", "replace"))
    text = redacted(_TERMINAL.sub("", text))
    lines = [_cut(printable(line)) for line in text.strip().splitlines()]
    return " It said nothing." if not lines else " It said at last:\n" + "\n".join(lines[-TAIL_LINES:])


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}..."


def _secrets() -> list[bytes]:
    """What our environment holds that nobody else should know, the longest first, also as addresses spell it.

    Of the variables that are passed on, too: a command may have a secret and must not tell it.
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
