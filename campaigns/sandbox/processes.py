"""The processes in which untrusted texts are read, each task within limits of time and memory."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import tempfile
import threading
import time
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from pebble import ProcessExpired, ProcessPool

from campaigns.errors import BadRequest, Unavailable
from campaigns.sandbox.fair_queue import STOPPING, FairQueue, Owner
from campaigns.sandbox.results import Processes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from pebble import ProcessFuture

    from runtime.service_settings import WebSettings

log = logging.getLogger(__name__)

WALL_TIME_FACTOR = 4
"""On a busy machine a task may take this many times its processor time."""
NICENESS = 5
"""Pages have priority over reading."""
PRELOADED = ("campaigns.sandbox.preloaded", "campaigns.submissions.reading")
"""Modules that all processes share, so that no upload waits for their import."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class ReadingTimeout(BadRequest):
    """Reading this took too long and was stopped. Check whether something in it is repeated."""

    code = "took_too_long"


class ReadingMemoryLimit(BadRequest):
    """Reading this took too much memory and was stopped. Send less at once."""

    code = "took_too_much"


class ReadingFailed(BadRequest):
    """The process that read this ended before it was done. Nothing was stored."""

    code = "not_read"


class Sandbox:
    """Runs functions on untrusted files. One for each app; its processes start with the first task."""

    def __init__(self, settings: WebSettings) -> None:
        self._settings = settings
        self._queue = FairQueue(settings.reading_processes, settings.waiting_readings, settings.waiting_readings_each)
        self._lock = threading.Lock()
        self._pool: ProcessPool | None = None
        self._running: set[ProcessFuture[object]] = set()

    @asynccontextmanager
    async def turn(self, owner: Owner) -> AsyncIterator[SandboxSlot]:
        """Wait for a slot without blocking a thread; all tasks in one slot share its time limit.

        Raises
        ------
        TooMany
            If a limit on attempts is reached.
        Unavailable
            If there is no room to wait.
        """
        async with self._queue.turn(owner, self._settings.waiting_seconds):
            yield SandboxSlot(self, owner, self._settings.reading_seconds)

    async def run(
        self, owner: Owner, function: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Wait for a slot, and run only this function in it."""
        async with self.turn(owner) as turn:
            return await turn.run(function, *args, **kwargs)

    def places(self, account_id: int | None) -> list[int]:
        """Return how many are ahead of each of an account's waiting files."""
        return self._queue.places(account_id)

    def start(self) -> None:
        """Start the processes before they are needed."""
        with suppress(CancelledError, BrokenProcessPool):
            self._schedule(_no_op, (), self._settings.reading_seconds).result()

    def close(self) -> None:
        """Stop all running and waiting tasks. A later task starts the processes again."""
        self._queue.close()
        with self._lock:
            pool, self._pool = self._pool, None
            running = [*self._running]
        for future in running:
            future.cancel()  # type: ignore[no-untyped-call]
        if pool is not None:
            pool.stop()  # type: ignore[no-untyped-call]
            pool.join()

    def _schedule(
        self, function: Callable[Arguments, Result], arguments: tuple[object, ...], seconds: float
    ) -> ProcessFuture[Result]:
        with self._lock:
            if self._pool is None or not self._pool.active:
                context = Processes(self._settings.reading_bytes)
                context.set_forkserver_preload(list(PRELOADED))
                self._pool = ProcessPool(
                    self._settings.reading_processes,
                    initializer=_limit_process,
                    initargs=(self._settings.reading_bytes,),
                    context=context,
                )
            future = self._pool.schedule(
                _run_within, args=(seconds, function, arguments), timeout=max(1.0, WALL_TIME_FACTOR * seconds)
            )
            self._running.add(future)
        future.add_done_callback(self._running.discard)
        return future


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Create a folder for what a task unpacks: its results may stay there until the context ends."""
    with tempfile.TemporaryDirectory(prefix="steelyard-") as folder:
        yield Path(folder)


class SandboxSlot:
    """A slot while it is held."""

    def __init__(self, sandbox: Sandbox, owner: Owner, seconds: float) -> None:
        self._sandbox, self._owner = sandbox, owner
        self.seconds = seconds
        """Remaining seconds."""

    async def run(
        self, function: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Run a module-level function in a process, and return or raise its result.

        The result is data (`campaigns.sandbox.results`): dataclasses of this project and plain types. Raises
        ReadingTimeout, ReadingMemoryLimit, ReadingFailed, and Unavailable if the server stops.
        """
        assert not kwargs
        begun = time.monotonic()
        future = self._sandbox._schedule(function, args, self.seconds)
        try:
            return await asyncio.wrap_future(future)
        except (TimeoutError, MemoryError, ProcessExpired) as error:
            refused = _refusal(error)
            log.warning(
                "What account %s sent was not read: %s (%s)", self._owner.account_id, refused.code, type(error).__name__
            )
            raise refused from None
        except BrokenProcessPool:
            raise Unavailable(STOPPING) from None
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
            raise Unavailable(STOPPING) from None
        finally:
            future.cancel()  # type: ignore[no-untyped-call]
            self.seconds = max(1.0, self.seconds - (time.monotonic() - begun))


def _refusal(error: Exception) -> ReadingTimeout | ReadingMemoryLimit | ReadingFailed:
    """Return the error to show to the sender."""
    if isinstance(error, MemoryError):
        return ReadingMemoryLimit()
    if isinstance(error, TimeoutError) or getattr(error, "exitcode", None) == -_OUT_OF_TIME:
        return ReadingTimeout()
    return ReadingFailed()


def _is_cancelled() -> bool:
    """Return whether the waiting task itself was cancelled."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


_OUT_OF_TIME = 24
"""The number of SIGXCPU, which ends a process that has exceeded its processor time."""


def _limit_process(memory: int) -> None:
    """Initialise a process: it may allocate so many more bytes, and has a lower priority than pages."""
    import resource

    with suppress(OSError):
        os.nice(NICENESS)
    with suppress(OSError, ValueError):
        with open("/proc/self/statm", encoding="ascii") as file:
            held = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held + memory, resource.RLIM_INFINITY))
    # No core dump, which would contain texts.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _run_within(seconds: float, function: Callable[..., Result], arguments: tuple[object, ...]) -> Result:
    """Run within so many seconds of processor time; otherwise the system ends the process, whatever it does."""
    import resource

    used = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(used + seconds), resource.RLIM_INFINITY))
    try:
        return function(*arguments)
    finally:
        # Lifted before the result is sent: a process killed with that lock held would block the others for ever.
        resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def _no_op() -> None:
    """Started only to have a process."""
