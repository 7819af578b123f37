"""The pool of the embedded worker: any of its processes may be killed at any moment, and it ends when it is told to."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from io import BytesIO
from itertools import chain, repeat
from typing import Any

from billiard.common import restart_state
from billiard.connection import Connection
from billiard.exceptions import RestartFreqExceeded
from billiard.pool import EX_FAILURE, EX_OK, EX_RECYCLE, RUN, Supervisor, TimeoutHandler, Worker
from billiard.queues import SimpleQueue
from celery.concurrency.prefork import BlockingPool, TaskPool

LARGEST_MESSAGE = 1 << 18
"""Bytes; the kernel refuses to send what is larger than its buffer, which is smaller. Texts are never sent."""

LIMITS_SECONDS = 1.0
"""How often time limits are looked at."""
BURST = 10
"""Looks after the start by which processes that die are replaced without a word, each a tenth of a second later."""


class _WholeMessages(Connection):  # type: ignore[misc]
    """One end of a socket that keeps messages apart: each is sent whole or not at all, and read by one reader."""

    def _send_bytes(self, message: bytes) -> None:
        os.write(self._handle, message)

    def _recv_bytes(self, maxsize: int | None = None) -> BytesIO:
        message = os.read(self._handle, maxsize or LARGEST_MESSAGE)
        if not message:
            raise EOFError
        return BytesIO(message)


class _Queue(SimpleQueue):  # type: ignore[misc]
    """Messages between the pool's processes without a lock.

    billiard's own queue is a pipe. Its processes read and write with a lock in hand, and wait for messages with it.
    One that is killed then takes the lock to its grave: the others wait for it for ever, and so does the interpreter
    when it ends.
    """

    def __init__(self, ctx: Any) -> None:
        super().__init__(ctx=ctx)
        self.close()
        ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._reader = _WholeMessages(ends[0].detach(), writable=False)
        self._writer = _WholeMessages(ends[1].detach(), readable=False)

    def get_payload(self) -> Any:
        """The next message; waits for one. Raises EOFError when there are no writers left."""
        return self._reader.recv_bytes()

    def send_payload(self, value: bytes) -> None:
        """Send a message."""
        self._writer.send_bytes(value)


class _Ending:
    """A thread of the pool that rests in between, but not when it is to end: billiard's sleep out their second."""

    def __init__(self, *args: Any) -> None:
        self._ended = threading.Event()
        super().__init__(*args)

    def close(self) -> None:
        """End when the work is done."""
        super().close()  # type: ignore[misc]
        self._ended.set()

    def terminate(self) -> None:
        """End at once."""
        super().terminate()  # type: ignore[misc]
        self._ended.set()


class _Limits(_Ending, TimeoutHandler):  # type: ignore[misc]
    """Ends processes whose task takes too long."""

    def body(self) -> None:
        """Look every second."""
        for _ in self.handle_timeouts():
            self._ended.wait(LIMITS_SECONDS)


class _Keeper(_Ending, Supervisor):  # type: ignore[misc]
    """Puts processes in the place of dead ones."""

    def body(self) -> None:
        """Look soon after one another at first, when many may die at once, then less often, as billiard does."""
        pool = self.pool
        usual, pool.restart_state = pool.restart_state, restart_state(10 * pool._processes, 1)
        try:
            for look, rest in enumerate(_rests()):
                if self._ended.wait(rest) or pool._state != RUN:
                    return
                if look == BURST:
                    pool.restart_state = usual
                pool._maintain_pool()
        except RestartFreqExceeded:
            pool.close()
            pool.join()
            raise


def _rests() -> Iterator[float]:
    return chain((0.8,), repeat(0.1, BURST), repeat(0.8))


class _Leaving(Worker):  # type: ignore[misc]
    """What a process does, and it ends when that is done: billiard's waits a second for its parent's signal to end."""

    def _do_exit(self, pid: int, exitcode: int | None, exc: Exception | None = None) -> None:
        status = exitcode if exitcode is not None else EX_FAILURE if exc else EX_OK
        try:
            if self.on_exit is not None:
                self.on_exit(pid, status)
        finally:
            os._exit(status)


class _Processes(BlockingPool):  # type: ignore[misc]
    """A message that a process took to its grave before it said so is given up like one that it was at.

    billiard gives up what a dead process has acknowledged. Of the others nobody can tell which it had read, but once
    nothing is left to be read, and the living have had time to speak, all that nobody speaks of is lost.
    """

    Worker = _Leaving
    Supervisor = _Keeper
    TimeoutHandler = _Limits
    _inqueue: Any
    _outqueue: Any
    _suspected: dict[int, tuple[float, int]]
    """Messages that nobody had acknowledged when a process died: when that was, and its exit code."""

    def _setup_queues(self) -> None:
        self._suspected = {}
        super()._setup_queues()
        self._inqueue.close()
        self._outqueue.close()
        self._inqueue, self._outqueue = _Queue(self._ctx), _Queue(self._ctx)
        self._quick_put = self._inqueue._writer.send
        self._quick_get = self._outqueue._reader.recv

    def _join_exited_workers(self, shutdown: bool = False) -> list[int]:
        exited: list[int] = super()._join_exited_workers(shutdown)
        for code in exited:
            if code not in (EX_OK, EX_RECYCLE):
                unread = [number for number, job in list(self._cache.items()) if not job.accepted()]
                self._suspected |= dict.fromkeys(unread, (time.monotonic(), code))
        if self._suspected and not self._inqueue._reader.poll(0):
            self._give_up_unread()
        return exited

    def _give_up_unread(self) -> None:
        for number, (since, code) in list(self._suspected.items()):
            job = self._cache.get(number)
            if job is None or job.accepted():
                del self._suspected[number]
            elif time.monotonic() - since > job._lost_worker_timeout:
                del self._suspected[number]
                # Else the message would count as one that is still to be worked on, for ever.
                job._ack(None, time.time(), None, None)
                self.mark_as_worker_lost(job, code)


class EmbeddedPool(TaskPool):  # type: ignore[misc]
    """Celery's prefork pool on such queues."""

    BlockingPool: Any = _Processes
