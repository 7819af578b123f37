"""The processes in which strangers' texts are read, each task within limits of time and memory."""

from __future__ import annotations

import asyncio
import logging
import math
import multiprocessing
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
from campaigns.sandbox.fair_queue import RETRY_SECONDS, STOPPING, FairQueue, Owner

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from pebble import ProcessFuture

    from runtime.service_settings import WebSettings

log = logging.getLogger(__name__)

PATIENCE = 4
"""On a busy machine a task may take so many times its processor time."""
NICENESS = 5
"""Pages go before texts."""
PRELOADED = "campaigns.sandbox.preloaded"

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class TookTooLong(BadRequest):
    """Reading this took longer than any honest text takes, and was ended. Look whether something is repeated in it."""

    code = "took_too_long"


class TookTooMuch(BadRequest):
    """Reading this took more memory than any honest text takes, and was ended. Send less at once."""

    code = "took_too_much"


class NotRead(BadRequest):
    """The process that read this ended before it was done. Nothing was stored."""

    code = "not_read"


class Sandbox:
    """Runs functions on what strangers send. One for each app; its processes start when the first one comes."""

    def __init__(self, settings: WebSettings) -> None:
        self._settings = settings
        self._queue = FairQueue(settings.reading_processes, settings.waiting_readings, settings.waiting_readings_each)
        self._lock = threading.Lock()
        self._pool: ProcessPool | None = None
        self._running: set[ProcessFuture[object]] = set()

    @asynccontextmanager
    async def turn(self, owner: Owner) -> AsyncIterator[Turn]:
        """Wait for a slot, without a thread; all that is run in one turn shares its limit of time.

        Raises TooMany and Unavailable where there is no room to wait.
        """
        ticket = self._queue.enter(owner)
        try:
            try:
                async with asyncio.timeout(self._settings.waiting_seconds):
                    await asyncio.wrap_future(ticket.granted)
            except TimeoutError:
                raise Unavailable(
                    "Too many files wait to be read: yours was not begun. Send it again later.",
                    retry_seconds=RETRY_SECONDS,
                ) from None
            yield Turn(self, owner, self._settings.reading_seconds)
        finally:
            self._queue.leave(ticket)

    async def run(
        self, owner: Owner, function: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Wait for a turn, and run this alone in it."""
        async with self.turn(owner) as turn:
            return await turn.run(function, *args, **kwargs)

    def places(self, account_id: int | None) -> list[int]:
        """How many are before each of an account's files that wait."""
        return self._queue.places(account_id)

    def start(self) -> None:
        """Have the processes ready before somebody waits for them."""
        with suppress(CancelledError, BrokenProcessPool):
            self._schedule(_nothing, (), self._settings.reading_seconds).result()

    def close(self) -> None:
        """End what is read at the moment, and send away who waits. What comes later starts it anew."""
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
                context = multiprocessing.get_context("forkserver")
                context.set_forkserver_preload([PRELOADED])
                self._pool = ProcessPool(
                    self._settings.reading_processes,
                    initializer=_confine,
                    initargs=(self._settings.reading_bytes,),
                    context=context,
                )
            future = self._pool.schedule(
                _timed, args=(seconds, function, arguments), timeout=max(1.0, PATIENCE * seconds)
            )
            self._running.add(future)
        future.add_done_callback(self._running.discard)
        return future


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for what a task unpacks: what it returns may stay there until this is left."""
    with tempfile.TemporaryDirectory(prefix="steelyard-") as folder:
        yield Path(folder)


class Turn:
    """A slot for as long as it is held."""

    def __init__(self, sandbox: Sandbox, owner: Owner, seconds: float) -> None:
        self._sandbox, self._owner = sandbox, owner
        self.seconds = seconds
        """That are left."""

    async def run(
        self, function: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """What a function of a module returns or raises, computed elsewhere: arguments and result are pickled.

        Raises TookTooLong, TookTooMuch, NotRead, and Unavailable where the server stops.
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


def _refusal(error: Exception) -> TookTooLong | TookTooMuch | NotRead:
    """What is said to whom it was read for."""
    if isinstance(error, MemoryError):
        return TookTooMuch()
    if isinstance(error, TimeoutError) or getattr(error, "exitcode", None) == -_OUT_OF_TIME:
        return TookTooLong()
    return NotRead()


def _is_cancelled() -> bool:
    """Whether the one who waits is not to wait any longer."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


_OUT_OF_TIME = 24
"""The number of SIGXCPU, which ends a process that has used the processor time that it may."""


def _confine(memory: int) -> None:
    """First in each process: it may take so many bytes more than it has, and gives way to pages."""
    import resource

    with suppress(OSError):
        os.nice(NICENESS)
    with suppress(OSError, ValueError):
        with open("/proc/self/statm", encoding="ascii") as file:
            held = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held + memory, resource.RLIM_INFINITY))
    # Where it dies no picture of its memory, with texts in it, is left.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _timed(seconds: float, function: Callable[..., Result], arguments: tuple[object, ...]) -> Result:
    """Run it within so many seconds of processor time; the system ends the process otherwise, whatever it does."""
    import resource

    used = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(used + seconds), resource.RLIM_INFINITY))
    try:
        return function(*arguments)
    finally:
        # Never while it holds the lock by which results are sent: then the others would wait for ever.
        resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def _nothing() -> None:
    """Run to have a process."""
