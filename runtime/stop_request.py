"""A request to stop, which a signal handler may make."""

from __future__ import annotations

import logging
import os
import select
import signal
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

log = logging.getLogger(__name__)

PLACES = 12
"""Functions of the main thread that are named where it has to be ended."""

SIGNALS = (signal.SIGTERM, signal.SIGINT)

ANSWER_SECONDS = 10.0
"""Seconds that a process may wait for answers when it is to end, beside those in which running work may finish."""


class StopRequest:
    """Made by a signal handler, and waited for like an event.

    A `threading.Event` is set under a lock. The handler runs in the main thread, which may hold that lock because it is
    just about to wait: then it would wait for itself for ever.
    """

    def __init__(self) -> None:
        self._made = False
        self._reader, self._writer = os.pipe()
        # Whatever is written first stays there: the pipe is only looked at.
        os.set_blocking(self._writer, False)
        for end in (self._reader, self._writer):
            weakref.finalize(self, os.close, end)

    def set(self) -> None:
        """Make the request."""
        self._made = True
        with suppress(BlockingIOError):
            os.write(self._writer, b".")

    def is_set(self) -> bool:
        """Whether it was made."""
        return self._made

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for it, for up to this many seconds; whether it was made."""
        # Made for each call: an object that polls is for one thread at a time.
        poll = select.poll()
        poll.register(self._reader, select.POLLIN)
        poll.poll(None if seconds is None else max(0.0, 1000 * seconds))
        return self._made


def end_in_time(
    over: threading.Event, seconds: float, *, code: int = 0, before: Callable[[], None] = lambda: None
) -> None:
    """End this process with this exit code unless it is `over` within so many seconds; `before` is called first.

    A database or a name server that does not answer may keep a process waiting for ever. So it must leave nothing
    behind that others do not take up by themselves.
    """

    def end() -> None:
        if not over.wait(seconds):
            _end(seconds, code, before)

    threading.Thread(target=end, name="ending", daemon=True).start()


def end_after_main_thread(seconds: float) -> None:
    """End this process, with exit code 0, if other threads keep it so many seconds after its main thread's end."""

    def end() -> None:
        threading.main_thread().join()
        time.sleep(seconds)
        _end(seconds, 0)

    threading.Thread(target=end, name="ending", daemon=True).start()


def _end(seconds: float, code: int, before: Callable[[], None] = lambda: None) -> None:
    log.warning(
        "Ended while it still waits for an answer, %g s after it was to stop. It waits in %s", seconds, _place()
    )
    logging.shutdown()
    before()
    os._exit(code)


def _place() -> str:
    """Where the main thread is, the innermost functions first."""
    frames = traceback.extract_stack(sys._current_frames().get(threading.main_thread().ident or 0))
    return ", ".join(
        f"{frame.name} ({Path(frame.filename).name}:{frame.lineno})" for frame in frames[: -PLACES - 1 : -1]
    )


@contextmanager
def stopped_by_signals(seconds: float) -> Iterator[StopRequest]:
    """A request that SIGTERM and SIGINT make in the main thread, and `ended_after_signals`."""
    stop = StopRequest()
    for number in SIGNALS:
        signal.signal(number, lambda *_: stop.set())
    with ended_after_signals(seconds):
        yield stop


@contextmanager
def ended_after_signals(seconds: float) -> Iterator[None]:
    """The main thread of a process that handles SIGTERM and SIGINT.

    The process is ended if it has not left the context this many seconds after one of them.
    """
    left = threading.Event()
    # Handlers run when the main thread is back from C, a look-up of a name for example; this pipe is written at once.
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    others = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def watch() -> None:
        while (received := os.read(reader, 1024)) and not set(received) & set(SIGNALS):
            pass
        os.close(reader)
        if received:
            end_in_time(left, seconds)

    threading.Thread(target=watch, name="stopping", daemon=True).start()
    try:
        yield
    finally:
        left.set()
        signal.set_wakeup_fd(others)
        os.close(writer)
